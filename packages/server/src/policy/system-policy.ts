import { groupOf } from '../domain/policy/match.ts'

export type PolicyDefault = {
  readonly name: string
  readonly tier: 'autonomous' | 'approval_required'
  readonly notify: boolean
}

/** Groups that reach out of the machine, or do whatever a program does. */
const tightGroups: ReadonlySet<string> = new Set(['email', 'network', 'process'])

/**
 * The policy that ships: each capability with the tier it was defined with, and a limit for each
 * group. It is YAML like any other layer, so that a refusal can name its file and line.
 */
export const renderSystemPolicy = (capabilities: readonly PolicyDefault[]): string => {
  const sorted = capabilities.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const groups = [...new Set(sorted.map(({ name }) => groupOf(name)))]
  return [
    '# Shipped with Gatehouse, made from the definitions of the capabilities. Rules of your own go',
    '# into organisation.yaml and agents/<name>.yaml, which stand below this layer.',
    'version: 1',
    sorted.length === 0 ? 'rules: []' : 'rules:',
    ...sorted.flatMap(({ name, tier, notify }) => [
      `  - match: ${name}`,
      `    tier: ${tier}`,
      ...(notify ? ['    notify: true'] : []),
    ]),
    groups.length === 0 ? 'limits: []' : 'limits:',
    ...groups.map(
      (group) =>
        `  - { match: "${group}.*", limit: ${tightGroups.has(group) ? 60 : 600}, window: 1m }`,
    ),
    '',
  ].join('\n')
}
