import { groupOf } from '../domain/policy/match.ts'
import type { Layer, LayerLimit, LayerRule } from '../domain/policy/types.ts'
import { parseWindow } from '../domain/policy/window.ts'
import type { FileId, ParsedFile } from './parse-file.ts'
import type { KnownNames } from './unknown-names.ts'

export type PolicyDefault = {
  readonly name: string
  readonly tier: 'autonomous' | 'approval_required'
  readonly notify: boolean
}

/** Groups that reach out of the machine, or do whatever a program does. */
const tightGroups: ReadonlySet<string> = new Set(['email', 'network', 'process'])

export const systemId: FileId = { layer: 'system', file: 'system.yaml', agent: null }

const window = '1m'

/** Where `match` of a rule stands in its line, counted from 1. */
const ruleColumn = 5

const refOf = (line: number, match: string) => {
  const { layer, file } = systemId
  return Object.freeze({ layer, file, line, match })
}

/**
 * The policy that ships: each capability with the tier it was defined with, and a limit for each group. It has a text in
 * YAML like any other layer, so that a refusal can name its file and line, and is what reading that text gives
 * (system-policy.test.ts): reading it takes a ninth of the processor time of a start.
 */
export const createSystemPolicy = (
  capabilities: readonly PolicyDefault[],
  names: KnownNames,
): ParsedFile => {
  const sorted = capabilities.toSorted((a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : 0))
  const groups = [...new Set(sorted.map(({ name }) => groupOf(name)))]
  const lines = [
    '# Shipped with Gatehouse, made from the definitions of the capabilities. Rules of your own go',
    '# into organisation.yaml and agents/<name>.yaml, which stand below this layer.',
    'version: 1',
    sorted.length === 0 ? 'rules: []' : 'rules:',
  ]
  const rules = sorted.map(({ name, tier, notify }): LayerRule => {
    const ref = refOf(lines.push(`  - match: ${name}`), name)
    lines.push(`    tier: ${tier}`)
    if (notify) lines.push('    notify: true')
    return { match: name, tier, notify, floor: false, reason: null, when: null, ref }
  })
  lines.push(groups.length === 0 ? 'limits: []' : 'limits:')
  const limits = groups.map((group): LayerLimit => {
    const match = `${group}.*`
    const limit = tightGroups.has(group) ? 60 : 600
    const line = lines.push(`  - { match: "${match}", limit: ${limit}, window: ${window} }`)
    return { match, limit, window, window_ms: parseWindow(window) ?? 0, ref: refOf(line, match) }
  })
  const layer: Layer = { ...systemId, rules, limits }
  return {
    id: systemId,
    text: [...lines, ''].join('\n'),
    layer,
    names,
    tests: [],
    warnings: [],
    positionOf: ({ ref }) => ({ line: ref.line, column: ruleColumn }),
  }
}
