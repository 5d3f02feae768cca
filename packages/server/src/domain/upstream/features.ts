/** A method of the protocol that stands among the tools of a server: most models have no use of it otherwise. */
export const featureMethods = [
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'prompts/list',
  'prompts/get',
  'completion/complete',
] as const
export type FeatureMethod = (typeof featureMethods)[number]

/** A list of a server beside that of its tools. That of resources has its templates, too. */
export type FeatureList = 'prompts' | 'resources'

export type FeatureDefinition = {
  readonly name: string
  readonly description: string
  readonly inputSchema: object
  readonly annotations: object
}

const schemaOf = (properties: object, required: readonly string[]) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
})

const cursor = { type: 'string', description: 'nextCursor of the page before.' }
const texts = { type: 'object', additionalProperties: { type: 'string' } }
const annotations = { readOnlyHint: true }

const listing = (name: string, what: string): FeatureDefinition => ({
  name,
  description: `Lists the ${what} of this server, a page at a time.`,
  inputSchema: schemaOf({ cursor }, []),
  annotations,
})

/** The tools that stand for these methods, as people accept them. */
export const featureDefinitions: Readonly<Record<FeatureMethod, FeatureDefinition>> = {
  'resources/list': listing('list_resources', 'resources'),
  'resources/templates/list': listing(
    'list_resource_templates',
    'templates for addresses of resources',
  ),
  'resources/read': {
    name: 'read_resource',
    description: 'Reads a resource of this server.',
    inputSchema: schemaOf(
      { uri: { type: 'string', description: 'As list_resources shows it, or by a template.' } },
      ['uri'],
    ),
    annotations,
  },
  'prompts/list': listing('list_prompts', 'prompts'),
  'prompts/get': {
    name: 'get_prompt',
    description: 'Fills in a prompt of this server and returns its messages.',
    inputSchema: schemaOf({ name: { type: 'string' }, arguments: texts }, ['name']),
    annotations,
  },
  'completion/complete': {
    name: 'complete_argument',
    description: 'Suggests values for an argument of a prompt, or of a template, of this server.',
    inputSchema: schemaOf(
      {
        ref: {
          type: 'object',
          description:
            '{"type": "ref/prompt", "name": …} or {"type": "ref/resource", "uri": the template}.',
        },
        argument: schemaOf({ name: { type: 'string' }, value: { type: 'string' } }, [
          'name',
          'value',
        ]),
        context: { type: 'object', description: '{"arguments": those that have values already}.' },
      },
      ['ref', 'argument'],
    ),
    annotations,
  },
}
