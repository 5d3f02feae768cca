import { createInterface } from 'node:readline'

/** What a model would read of the content that a client hands over. */
const textOf = (content = []) =>
  content.map((part) => (typeof part === 'string' ? part : (part.text ?? part.type))).join('\n')

/**
 * The program that a test starts around a foreign client. It is connected with the address and the token in the
 * environment, then takes one request on each line of its input, any number at once, and answers on its output:
 * `{id, tools}` to `{id, do: "list"}`, and `{id, text, failed}` to `{id, do: "call", tool, args}`.
 */
export const drive = async (connect) => {
  const { GATE_URL: url, GATE_TOKEN: token, GATE_ERA: era } = process.env
  const headers = { Authorization: `Bearer ${token}` }
  const client = await connect({ url, token, headers, era })
  const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`)
  const perform = async (request) => {
    if (request.do === 'list') return { tools: await client.list() }
    const { content, isError = false } = await client.call(request.tool, request.args)
    return { text: textOf(content), failed: isError }
  }
  say({ id: 0 })
  const running = new Set()
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, ...request } = JSON.parse(line)
    const one = perform(request)
      .catch((error) => ({ text: String(error?.message ?? error), failed: true }))
      .then((answer) => say({ id, ...answer }))
      .finally(() => running.delete(one))
    running.add(one)
  }
  await Promise.all(running)
  await client.close()
}
