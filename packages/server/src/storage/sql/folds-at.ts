/**
 * Totals and statistics must not cost more as the log grows, and an entry must not cost more because of
 * them: so rows are added to the daily counts by the thousand, and who reads adds the few that are not
 * in yet, the tail of each chain.
 */
const foldEvery = 2_048

/** Whether the row with this number is one after which its chain is folded. */
export const foldsAt = (seq: number): boolean => seq % foldEvery === 0
