import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { anthropic } from './model-wires/anthropic.ts'
import { gemini } from './model-wires/gemini.ts'
import { openai } from './model-wires/openai.ts'
import type { Said, Step, Turn, Wire } from './model-wires/wire.ts'

/**
 * A model that follows a script, for programs that expect one: it speaks as much of Anthropic's Messages, OpenAI's
 * Responses and Gemini's generateContent as coding agents need, all of them at one address.
 *
 * In each conversation it takes the script's steps in order, one for each turn: it calls the tool of the step, then
 * reads what came of it. After the last step, and where it is offered no tools, it says "done".
 */
export type ScriptedModel = AsyncDisposable & {
  /** The origin, to which each program adds the path of its protocol. */
  readonly url: string
  /** The tools that were offered with the last request that offered any, as they are named there. */
  readonly offered: readonly string[]
  /** What the tools of the script answered, as the model reads it: one text for each step that was answered. */
  readonly results: readonly string[]
  /** Requests for something that no wire knows. */
  readonly unknown: readonly string[]
  /** Begins a new script. */
  play(steps: readonly Step[]): void
}

const wires: readonly Wire[] = [anthropic, openai, gemini]

const bodyOf = async (request: IncomingMessage): Promise<unknown> => {
  const parts: Buffer[] = []
  for await (const part of request) parts.push(part)
  const text = Buffer.concat(parts).toString('utf8')
  return text === '' ? {} : JSON.parse(text)
}

/** The tool that a step means: of that name, or with that name behind what the program puts in front of it. */
const offeredAs = (tools: Said['tools'], step: Step) => {
  const tool = tools.find(({ name }) => name === step.tool || name.endsWith(`_${step.tool}`))
  if (!tool)
    throw new Error(`no tool ${step.tool} is offered: ${tools.map(({ name }) => name).join(', ')}`)
  return tool
}

const turnOf = async (step: Step, { tools, results }: Said): Promise<Turn> => {
  await step.first?.()
  const { input } = step
  const given = typeof input === 'function' ? input(results.at(-1) ?? '') : input
  return { tool: offeredAs(tools, step), input: given }
}

export const openScriptedModel = async (): Promise<ScriptedModel> => {
  let steps: readonly Step[] = []
  let offered: readonly string[] = []
  let results: readonly string[] = []
  let unknown: string[] = []

  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const url = new URL(request.url ?? '/', 'http://localhost')
    const wire = wires.find(({ path }) => path.test(url.pathname))
    const body = await bodyOf(request)
    if (!wire) {
      unknown.push(`${request.method} ${url.pathname}`)
      response.writeHead(404, { 'content-type': 'application/json' }).end('{}')
      return
    }
    const said = wire.read(body, url)
    if (said.tools.length > 0) {
      offered = said.tools.map(({ name }) => name)
      results = said.results
    }
    const step = said.tools.length > 0 ? steps[said.results.length] : undefined
    const { type, text } = wire.write(step ? await turnOf(step, said) : { text: 'done' }, said)
    response.writeHead(200, { 'content-type': type }).end(text)
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: Error) => {
      unknown.push(error.message)
      response.writeHead(400).end(JSON.stringify({ error: { message: error.message } }))
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  return {
    url: `http://127.0.0.1:${port}`,
    get offered() {
      return offered
    },
    get results() {
      return results
    },
    get unknown() {
      return unknown
    },
    play(next) {
      steps = next
      results = []
      unknown = []
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
