//! The report as one page of HTML.
//!
//! Names of partitions and files come from whoever wrote the past, so that every text is escaped;
//! what the page may load and run is forbidden by the page itself besides
//! (Content-Security-Policy).

use std::fmt::Write as _;

use simulator::assessment::verdict::{Answer, Finding};

use super::document::{Block, Document, Item, Picture, Section, Table};
use super::page::{STYLE, escaped};

/// The whole page.
pub(super) fn page(document: &Document) -> String {
    let mut html = String::new();
    let title = escaped(&document.title);
    let _ = write!(
        html,
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <title>{title}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n<main>\n"
    );
    let _ = writeln!(html, "<header>\n<h1>{title}</h1>\n<p class=\"rests\">{}</p>\n</header>", escaped(&document.rests_on));
    verdict(&mut html, document);
    let links = document.sections.iter().fold(String::new(), |mut links, section| {
        let _ = writeln!(links, "<a href=\"#{}\">{}</a>", section.id, escaped(section.title));
        links
    });
    let _ = writeln!(html, "<nav>\n{links}</nav>");
    document.sections.iter().for_each(|section| write_section(&mut html, section));
    html.push_str("</main>\n</body>\n</html>\n");
    html
}

fn verdict(html: &mut String, document: &Document) {
    let class = match document.verdict.answer {
        Answer::Pays => "pays",
        Answer::ForecastsOnly => "partly",
        Answer::DoesNotPay => "not",
        Answer::CannotBeSaid => "open",
    };
    let _ = writeln!(html, "<section class=\"verdict {class}\">");
    for (place, sentence) in document.verdict.sentences.iter().enumerate() {
        let tag = if place == 0 { "h2" } else { "p" };
        let _ = writeln!(html, "<{tag}>{}</{tag}>", escaped(sentence));
    }
    html.push_str("<dl class=\"findings\">\n");
    for finding in &document.verdict.findings {
        let [label, figure, note] = [finding.label, &finding.figure, &finding.note].map(escaped);
        let _ = write!(html, "<div><dt>{label}</dt><dd class=\"figure\">{figure}</dd><dd>{note}</dd>");
        rows_of(html, finding);
        html.push_str("</div>\n");
    }
    html.push_str("</dl>\n");
    if !document.limits.is_empty() {
        html.push_str("<h3>What limits this answer</h3>\n");
        list(html, &document.limits);
    }
    html.push_str("</section>\n");
}

/// The figures under a finding, a row for each kind.
fn rows_of(html: &mut String, finding: &Finding) {
    if finding.rows.is_empty() {
        return;
    }
    html.push_str("<dd><table><thead><tr><th></th>");
    for column in &finding.columns {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(column));
    }
    html.push_str("</tr></thead><tbody>");
    for row in &finding.rows {
        let _ = write!(html, "<tr><th scope=\"row\">{}</th>", escaped(row.name));
        for figure in &row.figures {
            let _ = write!(html, "<td>{}</td>", escaped(figure));
        }
        html.push_str("</tr>");
    }
    html.push_str("</tbody></table></dd>");
}

fn write_section(html: &mut String, section: &Section) {
    let _ = writeln!(html, "<section id=\"{}\">\n<h2>{}</h2>", section.id, escaped(section.title));
    for block in &section.blocks {
        match block {
            Block::Text(text) => {
                let _ = writeln!(html, "<p>{}</p>", escaped(text));
            }
            Block::List(items) => list(html, items),
            Block::Picture(found) => picture(html, found),
            Block::Table(found) => table(html, found),
        }
    }
    html.push_str("</section>\n");
}

fn list(html: &mut String, items: &[Item]) {
    html.push_str("<ul>\n");
    for item in items {
        let _ = writeln!(html, "<li><b>{}</b>: {}</li>", escaped(&item.about), escaped(&item.what));
    }
    html.push_str("</ul>\n");
}

fn picture(html: &mut String, found: &Picture) {
    let caption = escaped(&found.caption);
    // The drawing begins with its own element, which is told what it shows.
    let svg = found.svg.trim_start().strip_prefix("<svg").unwrap_or_default();
    let _ = writeln!(html, "<figure>\n<svg role=\"img\" aria-label=\"{caption}\"{svg}\n<figcaption>{caption}</figcaption>\n</figure>");
}

fn table(html: &mut String, found: &Table) {
    let _ = write!(html, "<div class=\"scrolls\"><table>\n<caption>{}</caption>\n<thead><tr>", escaped(&found.caption));
    for name in &found.header {
        let _ = write!(html, "<th scope=\"col\">{}</th>", escaped(name));
    }
    html.push_str("</tr></thead>\n<tbody>\n");
    for row in &found.rows {
        html.push_str("<tr>");
        for (place, cell) in row.iter().enumerate() {
            let text = escaped(&cell.text);
            let _ = match place {
                0 => write!(html, "<th scope=\"row\">{text}</th>"),
                _ if cell.shade > 0.0 => {
                    write!(html, "<td style=\"--shade:{:.0}%\" class=\"shaded\">{text}</td>", 100.0 * cell.shade.min(1.0))
                }
                _ => write!(html, "<td>{text}</td>"),
            };
        }
        html.push_str("</tr>\n");
    }
    html.push_str("</tbody>\n</table></div>\n");
}

#[cfg(test)]
mod tests {
    use simulator::assessment::Verdict;
    use simulator::assessment::verdict::FindingRow;

    use super::super::document::Cell;
    use super::*;

    #[test]
    fn hostile_names_stay_text() {
        const HOSTILE: &str = "<script>alert('\"&')</script>";
        let item = || Item { about: HOSTILE.to_owned(), what: HOSTILE.to_owned() };
        let rows = vec![FindingRow { name: "row", figures: vec![HOSTILE.to_owned()] }];
        let finding =
            Finding { label: "label", figure: HOSTILE.to_owned(), note: HOSTILE.to_owned(), columns: vec![HOSTILE.to_owned()], rows };
        let verdict = Verdict { answer: Answer::Pays, sentences: vec![HOSTILE.to_owned()], findings: vec![finding] };
        let table = Table { caption: HOSTILE.to_owned(), header: vec![HOSTILE.to_owned()], rows: vec![vec![Cell::from(HOSTILE); 2]] };
        let picture = Picture { svg: "<svg width=\"1\"></svg>".to_owned(), caption: HOSTILE.to_owned() };
        let blocks = vec![Block::Text(HOSTILE.to_owned()), Block::Table(table), Block::Picture(picture), Block::List(vec![item()])];
        let document = Document {
            title: HOSTILE.to_owned(),
            rests_on: HOSTILE.to_owned(),
            verdict,
            limits: vec![item()],
            sections: vec![Section { id: "one", title: "One", blocks }],
        };
        let page = page(&document);
        assert!(!page.contains("<script") && !page.contains("alert('"), "{page}");
        assert_eq!(page.matches("&lt;script&gt;alert(&#39;&quot;&amp;&#39;)&lt;/script&gt;").count(), 19);
        assert!(page.contains("default-src 'none'") && page.contains("<figure>\n<svg role=\"img\""));
    }
}
