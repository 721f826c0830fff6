//! What the thesis found (table 7.2-I).

use super::bids::UserModule;

/// The centres of mass of one graph under the three schedulers of the thesis, in credits per node
/// and minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Centres {
    /// Under the economic scheduler.
    pub vickrey: f64,
    /// First come, first served.
    pub fifo: f64,
    /// All at once, time-shared.
    pub glunix: f64,
}

/// A row of table 7.2-I: centres of mass of all jobs of the year in one run each.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Row {
    /// How all users bid.
    pub module: UserModule,
    /// Of the graph of dilation against bid.
    pub dilation: Centres,
    /// Of the graph of delay against bid.
    pub delay: Centres,
}

const fn row(module: UserModule, dilation: [f64; 3], delay: [f64; 3]) -> Row {
    const fn centres([vickrey, fifo, glunix]: [f64; 3]) -> Centres {
        Centres { vickrey, fifo, glunix }
    }
    Row { module, dilation: centres(dilation), delay: centres(delay) }
}

/// Table 7.2-I. It has no row for mixed users.
pub const TABLE_7_2_I: [Row; 7] = [
    row(UserModule::BinaryCategorized, [809.493, 990.721, 972.019], [69.1116, 981.446, 984.880]),
    row(UserModule::BinaryRandom, [466.480, 851.958, 848.034], [496.043, 848.899, 850.768]),
    row(UserModule::Categorized, [143.502, 199.433, 196.310], [142.873, 197.757, 198.386]),
    row(UserModule::ConstantTotal, [119.477, 444.793, 479.538], [132.939, 466.005, 507.132]),
    row(UserModule::Proportional, [4.673, 42.799, 79.788], [99.662, 53.917, 53.662]),
    row(UserModule::Random, [8.981, 24.969, 24.912], [9.0805, 24.928, 25.261]),
    row(UserModule::Zero, [0.0; 3], [0.0; 3]),
];

/// The row of a user module; `None` for those of which the thesis has none.
#[must_use]
pub fn of(module: UserModule) -> Option<&'static Row> {
    TABLE_7_2_I.iter().find(|row| row.module == module)
}

#[cfg(test)]
mod tests {
    use super::{UserModule, of};

    #[test]
    fn mixed_users_alone_have_no_row() {
        let without: Vec<UserModule> = UserModule::ALL.into_iter().filter(|module| of(*module).is_none()).collect();
        assert_eq!(without, [UserModule::Mixed]);
    }

    #[test]
    fn the_vickrey_column_is_the_smallest_but_for_proportional_bids_against_delay() {
        for module in UserModule::ALL {
            let Some(row) = of(module) else { continue };
            let is_smallest = |centres: super::Centres| centres.vickrey <= centres.fifo.min(centres.glunix);
            assert!(is_smallest(row.dilation));
            assert_eq!(is_smallest(row.delay), module != UserModule::Proportional);
        }
    }
}
