//! What is kept of a job description until the daemon has read the job: the fields of one that was
//! submitted, or those that a modification is to write, as far as rules ask for them.

use super::JobFields;
use super::source::Source;
use site_rules::data::OwnedValue;
use site_rules::field::{FieldNumber, Fields, Name};
use site_rules::value::{Kind, Value};
use slurm_sys::job_description::JobDescription;
use slurm_sys::job_fields::TextField;

/// The longest text that is kept of a job that was submitted, in bytes.
const LONGEST: usize = 4_096;

/// The fields that follow from nothing else and are no lists of texts.
fn kept_names() -> impl Iterator<Item = Name> {
    let is_kept = |name: &Name| {
        let kind = FieldNumber::from(*name).get().map(|field| field.kind);
        !name.is_derived() && !matches!(kind, None | Some(Kind::Texts | Kind::Variables)) && !matches!(name, Name::Script | Name::JobIdStr)
    };
    Name::ALL.iter().copied().filter(is_kept)
}

/// Returns the requested fields of a job as it was submitted; `None` if a text is too long to be
/// kept.
pub(crate) fn submitted_fields(description: &JobDescription<'_>, asked: &[FieldNumber]) -> Option<Vec<(FieldNumber, OwnedValue)>> {
    let job = JobFields::from(description);
    let mut fields = Vec::new();
    for field in kept_names().map(FieldNumber::from).filter(|field| asked.contains(field)) {
        let Some(value) = job.field(field) else { continue };
        if let Value::Text(text) = value
            && text.len() > LONGEST
        {
            return None;
        }
        fields.push((field, OwnedValue::from(value)));
    }
    Some(fields)
}

/// The fields that a modification writes; `None` is for one that it takes out.
pub(crate) fn changed_fields(description: &JobDescription<'_>) -> Vec<(FieldNumber, Option<OwnedValue>)> {
    let job = JobFields::from(description);
    let mut changes = Vec::new();
    let takes_out = |field: TextField| description.empties_text(field).then_some(None);
    for name in kept_names() {
        let field = FieldNumber::from(name);
        let value = || job.field(field).map(OwnedValue::from);
        // A truth that is false unless it is given is written only if it is given.
        let change = match Source::from(name) {
            Source::Text(text) | Source::Resources(text) => value().map(Some).or_else(|| takes_out(text)),
            Source::Truth(number) => description.number(number).map(|number| Some(OwnedValue::Truth(number != 0))),
            Source::Flag(flag) => description.has_flag(flag).then_some(Some(OwnedValue::Truth(true))),
            Source::All(holds) => holds(description).then_some(Some(OwnedValue::Truth(true))),
            // What a description says of itself is no change, and lists of texts are not kept.
            Source::Condition(_) | Source::JobId | Source::ScriptSize | Source::Length(_) | Source::LowestBit(..) => None,
            Source::MailTypes | Source::Profiles | Source::List(_) | Source::Environment | Source::Derived => None,
            _ => value().map(Some),
        };
        changes.extend(change.map(|change| (field, change)));
        // All there is goes into the place of a number.
        let is_all = |displaced: &&Name| matches!(Source::from(**displaced), Source::All(holds) if holds(description));
        changes.extend(name.displaces().iter().filter(is_all).map(|_| (field, None)));
    }
    changes
}
