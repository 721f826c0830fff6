//! A picture as PNG.

use std::sync::Arc;

use anyhow::Context;
use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, Options, Tree, fontdb};

/// Points of the PNG for one of the SVG, so that letters stay sharp in print.
const SCALE: f32 = 2.0;

/// Renders an SVG picture. Its letters come with the program: a cluster's login node need not have
/// any.
///
/// # Errors
///
/// The picture is no SVG, or too large.
pub(super) fn rendered(svg: &str) -> anyhow::Result<Vec<u8>> {
    let mut fonts = fontdb::Database::new();
    fonts.load_font_data(epaint_default_fonts::UBUNTU_LIGHT.to_vec());
    let family = fonts.faces().next().and_then(|face| face.families.first()).map(|(name, _)| name.clone());
    if let Some(family) = family {
        fonts.set_sans_serif_family(family);
    }
    let options = Options { fontdb: Arc::new(fonts), ..Options::default() };
    let tree = Tree::from_str(svg, &options)?;
    let size: usvg::Size = tree.size();
    let (width, height) = ((size.width() * SCALE).ceil() as u32, (size.height() * SCALE).ceil() as u32);
    let mut pixels = Pixmap::new(width, height).context("the picture is too large")?;
    resvg::render(&tree, Transform::from_scale(SCALE, SCALE), &mut pixels.as_mut());
    Ok(pixels.encode_png()?)
}

#[cfg(test)]
mod tests {
    use super::rendered;

    #[test]
    fn letters_are_drawn() {
        let picture = |text: &str| {
            rendered(&format!(
                r#"<svg xmlns="http://www.w3.org/2000/svg" width="60" height="20"><text x="2" y="15" font-family="sans-serif">{text}</text></svg>"#
            ))
        };
        let (blank, written) = (picture("").unwrap(), picture("wait").unwrap());
        assert!(written.starts_with(b"\x89PNG") && written != blank);
    }
}
