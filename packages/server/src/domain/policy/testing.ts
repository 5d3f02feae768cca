import type { PolicyLayer, PolicyTier } from '@gatehouse/contract'
import type { Condition, Layer, LayerRule, PolicyQuestion } from './types.ts'

export type Loose = Partial<Omit<LayerRule, 'ref'>> & {
  readonly match: string
  readonly tier: PolicyTier
}

/** A file of a layer; one of the agent layer is of `ana`. */
export const layer = (
  kind: PolicyLayer,
  rules: readonly Loose[],
  more: Partial<Layer> = {},
): Layer => ({
  layer: kind,
  file: `${kind}.yaml`,
  agent: kind === 'agent' ? 'ana' : null,
  limits: [],
  rules: rules.map((rule, index) => ({
    notify: false,
    floor: false,
    reason: null,
    when: null,
    ...rule,
    ref: { layer: kind, file: `${kind}.yaml`, line: index + 1, match: rule.match },
  })),
  ...more,
})

/** A condition on arguments that never holds, but for what is given. */
export const condition = (source: string, more: Partial<Condition> = {}): Condition => ({
  source,
  readsArguments: true,
  evaluate: () => false,
  ...more,
})

/** Call of an agent, by default `ana`. */
export const ask = (capability: string, agent = 'ana'): PolicyQuestion => ({
  capability,
  agent: { name: agent, purpose: '', status: 'active' },
  session: { id: '', transport: '', client: '' },
  args: {},
  nowMs: 0,
})
