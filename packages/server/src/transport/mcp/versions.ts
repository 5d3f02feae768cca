/** Protocol versions that open with `initialize`, newest first. */
export const legacyVersions = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const
export type LegacyVersion = (typeof legacyVersions)[number]

/** Version for a peer that never named one: that of the service's own contract. */
export const unspokenVersion: LegacyVersion = '2024-11-05'

/** The only version in which several messages may share one array. */
export const batchingVersion: LegacyVersion = '2025-03-26'

const newest: LegacyVersion = legacyVersions[0]

export const isLegacyVersion = (version: string): version is LegacyVersion =>
  (legacyVersions as readonly string[]).includes(version)

/** The version that was asked for where we speak it, else our newest one: never an error. */
export const negotiateVersion = (asked: string): LegacyVersion =>
  isLegacyVersion(asked) ? asked : newest
