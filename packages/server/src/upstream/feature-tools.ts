import type { JsonObject } from '../ports/json.ts'
import type { UpstreamAnswer, WireTool } from '../ports/upstream.ts'

type Result = Readonly<Record<string, unknown>>

/** A method of the protocol that stands among a server's tools. */
export type FeatureTool = {
  readonly tool: WireTool
  readonly method: string
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

const schemaOf = (properties: JsonObject, required: readonly string[]): JsonObject => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const cursor = { type: 'string', description: 'nextCursor of the page before.' }
const reads = { readOnlyHint: true }

const pageOf = (name: string, method: string, what: string): FeatureTool => ({
  tool: {
    name,
    description: `Lists the ${what} of this server, a page at a time.`,
    inputSchema: schemaOf({ cursor }, []),
    annotations: reads,
  },
  method,
  answer: asText,
})

const ofResources: readonly FeatureTool[] = [
  pageOf('list_resources', 'resources/list', 'resources'),
  pageOf(
    'list_resource_templates',
    'resources/templates/list',
    'templates for addresses of resources',
  ),
  {
    tool: {
      name: 'read_resource',
      description: 'Reads a resource of this server.',
      inputSchema: schemaOf(
        { uri: { type: 'string', description: 'As list_resources shows it, or by a template.' } },
        ['uri'],
      ),
      annotations: reads,
    },
    method: 'resources/read',
    answer: resourcesIn,
  },
]

const ofPrompts: readonly FeatureTool[] = [
  pageOf('list_prompts', 'prompts/list', 'prompts'),
  {
    tool: {
      name: 'get_prompt',
      description: 'Fills in a prompt of this server and returns its messages.',
      inputSchema: schemaOf(
        {
          name: { type: 'string' },
          arguments: { type: 'object', additionalProperties: { type: 'string' } },
        },
        ['name'],
      ),
      annotations: reads,
    },
    method: 'prompts/get',
    answer: asText,
  },
]

/**
 * Resources and prompts of a server as tools of it: most models have no use of them otherwise. A tool of the server
 * that has such a name stays what it is.
 */
export const featureTools = (
  offers: { readonly resources?: object | undefined; readonly prompts?: object | undefined },
  own: readonly WireTool[],
): readonly FeatureTool[] => {
  const taken = new Set(own.map(({ name }) => name))
  return [...(offers.resources ? ofResources : []), ...(offers.prompts ? ofPrompts : [])].filter(
    ({ tool }) => !taken.has(tool.name),
  )
}
