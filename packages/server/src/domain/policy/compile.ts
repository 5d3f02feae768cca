import { argumentsRead, type Chain, indexLayer, type LayerIndex, levelFor } from './chain.ts'
import { decide } from './decide.ts'
import { limitsFor } from './limits-for.ts'
import { listed } from './listed.ts'
import { leavingOut } from './tools.ts'
import { trace } from './trace.ts'
import type { CompiledPolicy, Layer, LayerLimit, LayerTools } from './types.ts'

export type { CompiledPolicy } from './types.ts'

/** Names may come from whoever calls, so what is remembered for them is bounded. */
const rememberedMax = 10_000

type Known = {
  readonly chain: Chain
  readonly limits: readonly LayerLimit[]
  readonly leftOutBy: LayerTools | null
  /** Arguments that some condition reads; null where one could read any. */
  readonly reads: ReadonlySet<string> | null
}

/** Scope of every agent with the same layers, lowest layer first; worked out once a capability. */
const scopeOf = (layers: readonly LayerIndex[]) => {
  const known = new Map<string, Known>()
  return (capability: string): Known => {
    const found = known.get(capability)
    if (found) return found
    if (known.size >= rememberedMax) known.clear()
    const chain = layers.map((layer) => levelFor(layer, capability))
    const limits = limitsFor(layers, capability)
    const leftOutBy = leavingOut(
      layers.map(({ layer }) => layer),
      capability,
    )
    const fresh = { chain, limits, leftOutBy, reads: argumentsRead(chain) }
    known.set(capability, fresh)
    return fresh
  }
}

// A file that did not change keeps its index from version to version.
const indices = new WeakMap<Layer, LayerIndex>()
const indexOf = (layer: Layer): LayerIndex => {
  const found = indices.get(layer) ?? indexLayer(layer)
  indices.set(layer, found)
  return found
}

/** Makes a policy ready to decide. `version` names the files; at most one layer of each kind and agent. */
export const compilePolicy = (version: string, layers: readonly Layer[]): CompiledPolicy => {
  const shared = ['organisation', 'system'].flatMap((kind) =>
    layers.filter((layer) => layer.layer === kind).map(indexOf),
  )
  const scopeOfAll = scopeOf(shared)
  const scopes = new Map(
    layers
      .filter((layer) => layer.layer === 'agent')
      .map((layer) => [layer.agent, scopeOf([indexOf(layer), ...shared])]),
  )
  const about = (agent: string, capability: string): Known =>
    (scopes.get(agent) ?? scopeOfAll)(capability)
  return Object.freeze<CompiledPolicy>({
    version,
    decide: (question) => decide(about(question.agent.name, question.capability).chain, question),
    trace: (question) => trace(about(question.agent.name, question.capability).chain, question),
    dependsOn: (agent, capability, names) => {
      const { reads } = about(agent, capability)
      return reads === null || (reads.size > 0 && names.some((name) => reads.has(name)))
    },
    leftOutBy: (agent, capability) => about(agent, capability).leftOutBy,
    listed: (question) => {
      const { chain, leftOutBy } = about(question.agent.name, question.capability)
      return leftOutBy === null ? listed(chain, question) : 'blocked'
    },
    limitsFor: (agent, capability) => about(agent, capability).limits,
  })
}
