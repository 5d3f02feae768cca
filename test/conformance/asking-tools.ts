import {
  createRequestStateCodec,
  type InputRequest,
  inputRequired,
  ProtocolError,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { type FixtureTool, type Members, said, type ToolRun } from './fixture-tool.ts'

const form = (message: string, properties: Readonly<Record<string, object>>): InputRequest =>
  inputRequired.elicit({
    message,
    requestedSchema: {
      type: 'object',
      properties: properties as never,
      required: Object.keys(properties),
    },
  })

const text = { type: 'string' }

const sample = (words: string): InputRequest =>
  inputRequired.createMessage({
    messages: [{ role: 'user', content: { type: 'text', text: words } }],
    maxTokens: 100,
  })

type Round = Readonly<Record<string, InputRequest>>

const codec = createRequestStateCodec<{ readonly round: number }>({
  key: 'the-key-of-a-fixture-has-32-bytes',
})

const roundOf = async (state: unknown, ctx: ServerContext): Promise<number> => {
  if (state === undefined) return 0
  try {
    return (await codec.verify(String(state), ctx)).round
  } catch {
    throw new ProtocolError(-32602, 'requestState integrity check failed')
  }
}

/** Asks round for round, and answers when all has been answered. */
const asks =
  (...rounds: readonly Round[]): ToolRun =>
  async (_args, ctx) => {
    const { inputResponses = {} } = ctx.mcpReq
    const round = await roundOf(ctx.mcpReq.requestState?.(), ctx)
    const asked = rounds[round] ?? {}
    const isAnswered = Object.keys(asked).every((key) => inputResponses[key] !== undefined)
    const next = isAnswered ? rounds[round + 1] : asked
    if (next === undefined) return said(`Answered: ${JSON.stringify(inputResponses)}`)
    const requestState = await codec.mint({ round: isAnswered ? round + 1 : round }, ctx)
    return inputRequired({ inputRequests: next, requestState })
  }

const defaults = {
  name: { type: 'string', default: 'John Doe' },
  age: { type: 'integer', default: 30 },
  score: { type: 'number', default: 95.5 },
  status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
  verified: { type: 'boolean', default: true },
}

const titled = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
]
const options = ['option1', 'option2', 'option3']

const choices = {
  untitledSingle: { type: 'string', enum: options },
  titledSingle: { type: 'string', oneOf: titled },
  legacyEnum: {
    type: 'string',
    enum: ['opt1', 'opt2', 'opt3'],
    enumNames: ['Option One', 'Option Two', 'Option Three'],
  },
  untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
  titledMulti: { type: 'array', items: { anyOf: titled } },
}

const userName = form('What is your name?', { name: text })
const confirm = form('Please confirm', { ok: { type: 'boolean' } })

const asking = (run: ToolRun): FixtureTool => ({ description: 'Asks its client.', run })

/** Tools that ask the person, the model or the files of their client. */
export const toolsAskingForInput: Readonly<Record<string, FixtureTool>> = {
  test_sampling: {
    description: 'Asks the model of its client.',
    inputSchema: { type: 'object', properties: { prompt: text } },
    run: (args, ctx) => asks({ answer: sample(String(args['prompt'])) })(args, ctx),
  },
  test_missing_capability: asking(asks({ answer: sample('Anything?') })),
  test_elicitation: {
    description: 'Asks the person at its client.',
    inputSchema: { type: 'object', properties: { message: text } },
    run: (args, ctx) =>
      asks({ answer: form(String(args['message']), { response: text }) })(args, ctx),
  },
  test_elicitation_sep1034_defaults: asking(asks({ answer: form('Review the form', defaults) })),
  test_elicitation_sep1330_enums: asking(asks({ answer: form('Select options', choices) })),
  test_streaming_elicitation: asking(asks({ user_name: userName })),
  test_input_required_result_elicitation: asking(asks({ user_name: userName })),
  test_input_required_result_sampling: asking(
    asks({ sample_request: sample('What is the capital of France?') }),
  ),
  test_input_required_result_list_roots: asking(asks({ roots_request: inputRequired.listRoots() })),
  test_input_required_result_request_state: asking(asks({ confirm })),
  test_input_required_result_tampered_state: asking(asks({ confirm })),
  test_input_required_result_multiple_inputs: asking(
    asks({
      user_name: userName,
      greeting: sample('Generate a greeting'),
      client_roots: inputRequired.listRoots(),
    }),
  ),
  test_input_required_result_multi_round: asking(
    asks({ step1: userName }, { step2: form('What is your favorite color?', { color: text }) }),
  ),
  test_input_required_result_capabilities: asking(async (args, ctx) => {
    const envelope = ctx.mcpReq.envelope as Members | undefined
    const capabilities = envelope?.['io.modelcontextprotocol/clientCapabilities']
    const { elicitation, sampling } = (capabilities ?? {}) as Members
    const asked = {
      ...(elicitation ? { elicit_input: form('Elicitation input', { value: text }) } : {}),
      ...(sampling ? { sample_input: sample('Sample request') } : {}),
    }
    return Object.keys(asked).length === 0
      ? said('The client has declared nothing to ask.')
      : asks(asked)(args, ctx)
  }),
}
