//! What is known to be there at a place of an expression.

use super::node::Node;
use site_rules::field::FieldNumber;
use site_rules::program::Scope;
use site_rules::submission::Surrounding;

/// Something that may be absent, and was found to be there.
#[derive(Clone, Debug, PartialEq)]
pub enum Fact {
    /// A field of a job.
    Field(Scope, FieldNumber),
    /// What surrounds the job.
    Surrounding(Surrounding),
    /// A variable of the environment.
    Variable(Scope, Node),
    /// A key of a table.
    Key(u16, Node),
    /// A forecast for a partition.
    Forecast(Node),
}

/// Things that are known to be there.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Facts(Vec<Fact>);

/// The facts that are known where this one holds.
impl From<Fact> for Facts {
    fn from(fact: Fact) -> Self {
        Facts(vec![fact])
    }
}

impl Facts {
    /// Whether the fact is known.
    #[must_use]
    pub fn has(&self, fact: &Fact) -> bool {
        self.0.contains(fact)
    }

    /// Returns the facts that have nothing to do with a variable of this number or one deeper.
    #[must_use]
    pub fn outside(&self, variable: usize) -> Facts {
        let is_outside = |fact: &&Fact| match fact {
            Fact::Field(..) | Fact::Surrounding(_) => true,
            Fact::Variable(_, node) | Fact::Key(_, node) | Fact::Forecast(node) => !node.depends_on(variable),
        };
        Facts(self.0.iter().filter(is_outside).cloned().collect())
    }

    /// Returns the facts that are in at least one of the two.
    #[must_use]
    pub fn with(&self, others: &Facts) -> Facts {
        let mut facts = self.0.clone();
        facts.extend(others.0.iter().filter(|fact| !self.has(fact)).cloned());
        Facts(facts)
    }

    /// Returns the facts that are in both.
    #[must_use]
    pub fn common(&self, others: &Facts) -> Facts {
        Facts(self.0.iter().filter(|fact| others.has(fact)).cloned().collect())
    }
}
