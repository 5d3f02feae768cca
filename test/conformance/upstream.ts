import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { pipeline } from 'node:stream/promises'
import {
  createMcpHandler,
  InMemoryServerEventBus,
  inputRequired,
  ProtocolError,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { toolsAskingForInput } from './asking-tools.ts'
import { type FixtureTool, type Members, said, type ToolRun } from './fixture-tool.ts'

const image =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const audio = 'UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA='
const imageBlock = { type: 'image', data: image, mimeType: 'image/png' }

const address = {
  $anchor: 'addressDef',
  type: 'object',
  properties: { street: { type: 'string' }, city: { type: 'string' } },
}

/** Every keyword that the suite looks for in a listing. */
const wholeVocabulary = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: { address },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // oxlint-disable-next-line unicorn/no-thenable -- a keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
}

const tellProgress: ToolRun = async (_args, ctx) => {
  const progressToken = ctx.mcpReq._meta?.progressToken
  if (progressToken === undefined) return said('nobody asked for progress')
  for (const progress of [0, 50, 100]) {
    const message = `Completed step ${progress} of 100`
    const params = { progressToken, progress, total: 100, message }
    await ctx.mcpReq.notify({ method: 'notifications/progress', params })
  }
  return said(String(progressToken))
}

const tellLogs: ToolRun = async (_args, ctx) => {
  for (const data of ['started', 'processing', 'completed'])
    await ctx.mcpReq.log('info', `Tool ${data}`)
  return said('Tool with logging executed successfully')
}

const resource = (uri: string, mimeType: string, text: string) => ({
  type: 'resource',
  resource: { uri, mimeType, text },
})

const plainTools: Readonly<Record<string, FixtureTool>> = {
  test_simple_text: {
    description: 'Answers with a text.',
    run: () => said('This is a simple text response for testing.'),
  },
  test_image_content: {
    description: 'Answers with an image.',
    run: () => ({ content: [imageBlock] }),
  },
  test_audio_content: {
    description: 'Answers with a sound.',
    run: () => ({ content: [{ type: 'audio', data: audio, mimeType: 'audio/wav' }] }),
  },
  test_embedded_resource: {
    description: 'Answers with a resource.',
    run: () => ({
      content: [
        resource('test://embedded-resource', 'text/plain', 'This is an embedded resource content.'),
      ],
    }),
  },
  test_multiple_content_types: {
    description: 'Answers with a text, an image and a resource.',
    run: () => ({
      content: [
        { type: 'text', text: 'Multiple content types test:' },
        imageBlock,
        resource(
          'test://mixed-content-resource',
          'application/json',
          '{"test":"data","value":123}',
        ),
      ],
    }),
  },
  test_error_handling: {
    description: 'Fails.',
    run: () => ({ ...said('This tool intentionally returns an error for testing'), isError: true }),
  },
  test_tool_with_progress: { description: 'Tells how far it is.', run: tellProgress },
  test_tool_with_logging: { description: 'Writes to the log of its client.', run: tellLogs },
  test_logging_tool: { description: 'Writes to the log of its client.', run: tellLogs },
  test_header_param: {
    description: 'Takes an argument that its client says in a header, too.',
    inputSchema: {
      type: 'object',
      properties: { region: { type: 'string', 'x-mcp-header': 'Region' } },
    },
    run: ({ region }) => said(`region: ${String(region)}`),
  },
  json_schema_2020_12_tool: {
    description: 'Has a schema with all that JSON Schema 2020-12 has.',
    inputSchema: wholeVocabulary,
    run: () => said('valid'),
  },
}

const resources: readonly { uri: string; name: string; mimeType: string; content: Members }[] = [
  {
    uri: 'test://static-text',
    name: 'Static text',
    mimeType: 'text/plain',
    content: { text: 'This is the content of the static text resource.' },
  },
  {
    uri: 'test://static-binary',
    name: 'Static image',
    mimeType: 'image/png',
    content: { blob: image },
  },
  {
    uri: 'test://watched-resource',
    name: 'Watched text',
    mimeType: 'text/plain',
    content: { text: 'Watched resource content' },
  },
]

const readResource = (uri: string) => {
  const found = resources.find((one) => one.uri === uri)
  if (found) return { contents: [{ uri, mimeType: found.mimeType, ...found.content }] }
  const id = /^test:\/\/template\/([^/]+)\/data$/.exec(uri)?.[1]
  if (id === undefined) throw new ProtocolError(-32602, 'Resource not found', { uri })
  const text = JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` })
  return { contents: [{ uri, mimeType: 'application/json', text }] }
}

const user = (content: Members) => ({ role: 'user', content })
const userText = (text: string) => user({ type: 'text', text })

const prompts: Readonly<
  Record<
    string,
    {
      readonly description: string
      readonly arguments: readonly string[]
      readonly messages: (args: Readonly<Record<string, string>>) => readonly Members[]
    }
  >
> = {
  test_simple_prompt: {
    description: 'Has no arguments.',
    arguments: [],
    messages: () => [userText('This is a simple prompt for testing.')],
  },
  test_prompt_with_arguments: {
    description: 'Has two arguments.',
    arguments: ['arg1', 'arg2'],
    messages: ({ arg1, arg2 }) => [
      userText(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`),
    ],
  },
  test_prompt_with_embedded_resource: {
    description: 'Holds a resource.',
    arguments: ['resourceUri'],
    messages: ({ resourceUri = '' }) => [
      user(resource(resourceUri, 'text/plain', 'Embedded resource content for testing.')),
      userText('Please process the embedded resource above.'),
    ],
  },
  test_prompt_with_image: {
    description: 'Holds an image.',
    arguments: [],
    messages: () => [user(imageBlock), userText('Please analyze the image above.')],
  },
}

const askingPrompt = 'test_input_required_result_prompt'

const getPrompt = (
  name: string,
  args: Readonly<Record<string, string>>,
  ctx: ServerContext,
): unknown => {
  if (name === askingPrompt) {
    const answer = ctx.mcpReq.inputResponses?.['user_context']
    if (answer !== undefined) return { messages: [userText(`Answered: ${JSON.stringify(answer)}`)] }
    const requestedSchema = {
      type: 'object' as const,
      properties: { context: { type: 'string' as const } },
      required: ['context'],
    }
    const message = 'What context should the prompt use?'
    return inputRequired({
      inputRequests: { user_context: inputRequired.elicit({ message, requestedSchema }) },
    })
  }
  const prompt = prompts[name]
  if (!prompt) throw new ProtocolError(-32602, `Unknown prompt: ${name}`)
  return { description: prompt.description, messages: prompt.messages(args) }
}

const listedPrompts = [
  ...Object.entries(prompts).map(([name, { description, arguments: names }]) => ({
    name,
    description,
    arguments: names.map((one) => ({ name: one, required: true })),
  })),
  { name: askingPrompt, description: 'Asks for its context.' },
]

/** Tools of the server that the suite calls. One of them comes and goes. */
const createTools = (changed: () => void) => {
  let extra = true
  const flip = () => {
    extra = !extra
    changed()
    return said('The tools have changed.')
  }
  const tools: Readonly<Record<string, FixtureTool>> = {
    ...plainTools,
    ...toolsAskingForInput,
    test_trigger_tool_change: { description: 'Changes the list of tools.', run: flip },
    test_extra: { description: 'Is there every other time.', run: () => said('here') },
  }
  const listed = () =>
    Object.entries(tools)
      .filter(([name]) => extra || name !== 'test_extra')
      .map(([name, { description, inputSchema = { type: 'object' } }]) => ({
        name,
        description,
        inputSchema,
      }))
  return { tools, listed }
}

const createFixture = ({ tools, listed }: ReturnType<typeof createTools>): Server => {
  const server = new Server(
    { name: 'conformance-fixture', version: '1.0.0' },
    {
      capabilities: {
        tools: { listChanged: true },
        resources: { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
    },
  )
  const handle = server.setRequestHandler.bind(server) as (
    method: string,
    handler: (request: { readonly params: Members }, ctx: ServerContext) => unknown,
  ) => void
  handle('tools/list', () => ({ tools: listed() }))
  handle('tools/call', ({ params }, ctx) => {
    const tool = tools[String(params['name'])]
    if (!tool) throw new ProtocolError(-32602, `Unknown tool: ${String(params['name'])}`)
    return tool.run((params['arguments'] ?? {}) as Members, ctx)
  })
  handle('resources/list', () => ({
    resources: resources.map(({ content: _content, ...one }) => one),
  }))
  handle('resources/templates/list', () => ({
    resourceTemplates: [
      {
        uriTemplate: 'test://template/{id}/data',
        name: 'Template',
        mimeType: 'application/json',
      },
    ],
  }))
  handle('resources/read', ({ params }) => readResource(String(params['uri'])))
  handle('prompts/list', () => ({ prompts: listedPrompts }))
  handle('prompts/get', ({ params }, ctx) =>
    getPrompt(
      String(params['name']),
      (params['arguments'] ?? {}) as Readonly<Record<string, string>>,
      ctx,
    ),
  )
  handle('completion/complete', ({ params }) => {
    const { value } = params['argument'] as { readonly value: string }
    const values = ['paris', 'park', 'party'].filter((one) => one.startsWith(value))
    return { completion: { values, total: values.length, hasMore: false } }
  })
  return server
}

const bodyOf = async (request: IncomingMessage): Promise<Buffer> => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk as Buffer)
  return Buffer.concat(chunks)
}

/** The server behind the gate, made with the official SDK, at a port of this machine. */
export const openUpstream = async (): Promise<AsyncDisposable & { readonly url: string }> => {
  const bus = new InMemoryServerEventBus()
  const tools = createTools(() => bus.publish({ kind: 'tools_list_changed' }))
  const handler = createMcpHandler(() => createFixture(tools), { bus })
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = 'GET' } = request
    const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)])
    const body = method === 'POST' ? await bodyOf(request) : null
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    const answered = await handler.fetch(
      new Request(`http://127.0.0.1${request.url}`, {
        method,
        headers: headers as [string, string][],
        body,
        signal: gone.signal,
      }),
    )
    response.writeHead(answered.status, Object.fromEntries(answered.headers))
    response.flushHeaders()
    if (answered.body === null) response.end()
    else await pipeline(answered.body, response).catch(() => {})
  }
  const server = createServer((request, response) => void answer(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}
