import {
  type FeatureMethod,
  featureDefinitions,
  featureMethods,
} from '../domain/upstream/features.ts'
import type { JsonObject } from '../ports/json.ts'
import type { UpstreamAnswer, WireTool } from '../ports/upstream.ts'

type Result = Readonly<Record<string, unknown>>

/** A method of the protocol that stands among a server's tools. */
export type FeatureTool = {
  readonly tool: WireTool
  readonly method: FeatureMethod
  readonly answer: (result: Result) => UpstreamAnswer
}

const asText = (result: Result): UpstreamAnswer => ({
  content: [{ type: 'text', text: JSON.stringify(result) }],
})

const itemsOf = (value: unknown): readonly JsonObject[] => (Array.isArray(value) ? value : [])

const resourcesIn = ({ contents, _meta }: Result): UpstreamAnswer => ({
  content: itemsOf(contents).map((resource) => ({ type: 'resource', resource })),
  ...(typeof _meta === 'object' && _meta !== null ? { _meta: _meta as JsonObject } : {}),
})

type Offers = {
  readonly resources?: object | undefined
  readonly prompts?: object | undefined
  readonly completions?: object | undefined
}

const neededBy = (method: FeatureMethod): keyof Offers =>
  method === 'completion/complete'
    ? 'completions'
    : method.startsWith('prompts/')
      ? 'prompts'
      : 'resources'

/** Features of a server as tools of it. A tool of the server that has such a name stays what it is. */
export const featureTools = (offers: Offers, own: readonly WireTool[]): readonly FeatureTool[] => {
  const taken = new Set(own.map(({ name }) => name))
  return featureMethods
    .filter((method) => offers[neededBy(method)] && !taken.has(featureDefinitions[method].name))
    .map((method) => ({
      tool: featureDefinitions[method] as unknown as WireTool,
      method,
      answer: method === 'resources/read' ? resourcesIn : asText,
    }))
}
