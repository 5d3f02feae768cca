/** Groups of capabilities that read and write a service of a kind. */
export const serviceGroups = [
  ['email', 'mail'],
  ['calendar', 'calendar'],
] as const

/** Kind of service that the capabilities of a group read and write; null for other groups. */
export const serviceKindOf = (name: string): string | null =>
  serviceGroups.find(([group]) => group === name)?.[1] ?? null
