//! A report as a sequence of texts, tables and pictures, whatever it is written as.

use command_parts::output::count;
use simulator::assessment::{Adoption, Verdict};

/// A report.
pub(super) struct Document {
    pub(super) title: String,
    /// What it rests on, in a line.
    pub(super) rests_on: String,
    pub(super) verdict: Verdict,
    /// What bears on the verdict and is not known.
    pub(super) limits: Vec<Item>,
    pub(super) sections: Vec<Section>,
}

/// Something to be said under a word or two that name it.
pub(super) struct Item {
    pub(super) about: String,
    pub(super) what: String,
}

/// A part of a report.
pub(super) struct Section {
    /// The name by which links find the section.
    pub(super) id: &'static str,
    pub(super) title: &'static str,
    pub(super) blocks: Vec<Block>,
}

/// A piece of a section.
pub(super) enum Block {
    Text(String),
    Table(Table),
    Picture(Picture),
    List(Vec<Item>),
}

/// A table. Its first column has names, the others figures.
#[derive(Default)]
pub(super) struct Table {
    pub(super) caption: String,
    pub(super) header: Vec<String>,
    pub(super) rows: Vec<Vec<Cell>>,
}

/// One figure of a table.
#[derive(Default, Clone)]
pub(super) struct Cell {
    pub(super) text: String,
    /// How much it stands out, 0 to 1.
    pub(super) shade: f64,
}

impl<T: Into<String>> From<T> for Cell {
    fn from(text: T) -> Self {
        Self { text: text.into(), shade: 0.0 }
    }
}

/// A picture that is drawn already.
pub(super) struct Picture {
    /// The drawing, as SVG.
    pub(super) svg: String,
    /// What it shows, for those who don't see it, and below it.
    pub(super) caption: String,
}

/// What a class of sizes is called.
pub(super) fn size_name(least: u32, most: Option<u32>) -> String {
    match most {
        Some(most) if most == least => count(least.into()),
        Some(most) => format!("{} to {}", count(least.into()), count(most.into())),
        None => format!("{} and more", count(least.into())),
    }
}

/// Whose jobs are molded.
pub(super) fn who_uses_it(adoption: &Adoption) -> &'static str {
    if adoption.adoption >= 1.0 { "all use it" } else { "half use it" }
}
