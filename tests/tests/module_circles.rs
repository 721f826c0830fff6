//! Of two modules that lie beside each other, only one knows the other, directly or through others.
//!
//! A module and the one that it lies in may know each other, as is usual in Rust: a part names what
//! the whole shares.

#![allow(clippy::unwrap_used, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use end_to_end::project;
use syn::UseTree;
use syn::visit::{self, Visit};

/// The path of a module in its crate; a crate's root has none.
type Module = Vec<String>;

/// The paths that a source names, as they are written.
#[derive(Default)]
struct Named(Vec<Vec<String>>);

impl Named {
    fn add(&mut self, tree: &UseTree, before: &[String]) {
        let with = |name: &syn::Ident| [before, &[name.to_string()]].concat();
        match tree {
            UseTree::Path(path) => self.add(&path.tree, &with(&path.ident)),
            UseTree::Name(name) => self.0.push(with(&name.ident)),
            UseTree::Rename(name) => self.0.push(with(&name.ident)),
            UseTree::Group(group) => group.items.iter().for_each(|tree| self.add(tree, before)),
            UseTree::Glob(_) => self.0.push(before.to_vec()),
        }
    }
}

impl Visit<'_> for Named {
    fn visit_item_use(&mut self, item: &syn::ItemUse) {
        self.add(&item.tree, &[]);
    }

    fn visit_path(&mut self, path: &syn::Path) {
        self.0.push(path.segments.iter().map(|segment| segment.ident.to_string()).collect());
        visit::visit_path(self, path);
    }

    fn visit_item_mod(&mut self, item: &syn::ItemMod) {
        let is_test = |attribute: &syn::Attribute| attribute.path().is_ident("cfg");
        if !item.attrs.iter().any(is_test) {
            visit::visit_item_mod(self, item);
        }
    }
}

/// What each module of a crate names.
struct Modules(BTreeMap<Module, Vec<Vec<String>>>);

impl Modules {
    fn of_sources<'a>(sources: impl IntoIterator<Item = (Module, &'a str)>) -> Modules {
        let named = |(module, text): (Module, &str)| {
            let mut named = Named::default();
            named.visit_file(&syn::parse_file(text).unwrap());
            (module, named.0)
        };
        Modules(sources.into_iter().map(named).collect())
    }

    /// The module that holds what a path of `module` names; `None` where that is outside of the
    /// crate. What another module only names in its `use` is looked for where that points to.
    fn holder(&self, module: &Module, path: &[String], follow: usize) -> Option<Module> {
        let mut found = match path.first()?.as_str() {
            "crate" => Module::new(),
            "self" | "super" => module.clone(),
            child => self.0.contains_key(&[module.as_slice(), &[child.to_owned()]].concat()).then(|| module.clone())?,
        };
        for name in path.iter().skip_while(|name| matches!(name.as_str(), "crate" | "self")) {
            let inside = [found.as_slice(), std::slice::from_ref(name)].concat();
            if name == "super" {
                found.pop();
            } else if self.0.contains_key(&inside) {
                found = inside;
            } else {
                let elsewhere = self.0[&found].iter().find(|path| path.len() > 1 && path.last() == Some(name));
                return elsewhere.filter(|_| follow > 0).and_then(|path| self.holder(&found, path, follow - 1)).or(Some(found));
            }
        }
        Some(found)
    }

    /// Returns for each module which of the modules beside it it names, itself or in one of its
    /// parts.
    fn neighbours(&self) -> BTreeMap<Module, BTreeSet<Module>> {
        let mut neighbours: BTreeMap<Module, BTreeSet<Module>> = BTreeMap::new();
        for (module, paths) in &self.0 {
            for holder in paths.iter().filter_map(|path| self.holder(module, path, 5)) {
                let shared = module.iter().zip(&holder).take_while(|(one, other)| one == other).count();
                if module.len() > shared && holder.len() > shared {
                    neighbours.entry(module[..=shared].to_vec()).or_default().insert(holder[..=shared].to_vec());
                }
            }
        }
        neighbours
    }

    /// The modules that know themselves through others.
    fn in_circles(&self) -> Vec<Module> {
        let neighbours = self.neighbours();
        let knows_itself = |module: &&Module| {
            let mut known = BTreeSet::new();
            let mut open: Vec<&Module> = neighbours[*module].iter().collect();
            while let Some(next) = open.pop() {
                if known.insert(next) {
                    open.extend(neighbours.get(next).into_iter().flatten());
                }
            }
            known.contains(module)
        };
        neighbours.keys().filter(knows_itself).cloned().collect()
    }
}

/// Reads the modules below a directory of sources.
fn read(directory: &Path, module: &Module, found: &mut Vec<(Module, String)>) {
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let inside = [module.as_slice(), std::slice::from_ref(&name)].concat();
        if name == "tests" {
            // They name what they please.
            continue;
        }
        if path.is_dir() {
            read(&path, &inside, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            let is_whole = matches!(name.as_str(), "lib" | "main" | "mod");
            found.push((if is_whole { module.clone() } else { inside }, fs::read_to_string(path).unwrap()));
        }
    }
}

fn circles(sources: &[(Module, String)]) -> Vec<String> {
    let modules = Modules::of_sources(sources.iter().map(|(module, text)| (module.clone(), text.as_str())));
    modules.in_circles().iter().map(|module| module.join("::")).collect()
}

#[test]
fn modules_that_lie_beside_each_other_lean_one_way() {
    let mut modules = 0;
    for entry in fs::read_dir(project()).unwrap() {
        let directory = entry.unwrap().path().join("src");
        let mut sources = Vec::new();
        if directory.is_dir() {
            read(&directory, &Module::new(), &mut sources);
        }
        modules += sources.len();
        assert_eq!(circles(&sources), Vec::<String>::new(), "{}", directory.display());
    }
    assert!(modules > 300, "{modules}");
}

#[test]
fn a_circle_is_found_through_a_third_module_and_through_what_another_hands_on() {
    let source = |module: &[&str], text: &str| (module.iter().map(ToString::to_string).collect(), text.to_owned());
    let sources = [
        source(&[], "mod one; mod two; mod three; mod apart; pub use one::First;"),
        source(&["one"], "use crate::two::Second; pub struct First;"),
        source(&["two"], "pub struct Second; fn made() { crate::three::make() }"),
        source(&["three", "inner"], "use super::super::First;"),
        source(&["three"], "mod inner; pub fn make() {}"),
        source(&["apart"], "use super::one; #[cfg(test)] mod tests { use crate::three::make; }"),
    ];
    assert_eq!(circles(&sources), ["one", "three", "two"]);
}
