import { code, generatedNote, table } from './markdown.mjs'

const paramRow =
  (required) =>
  ([name, field]) => [
    code(name),
    field.enum ? field.enum.map(code).join(', ') : field.type,
    required.includes(name) ? 'yes' : 'no',
    field.description ?? '',
  ]

const section = (method) => {
  const rows = Object.entries(method.fields).map(paramRow(method.required))
  const params =
    rows.length > 0 ? table(['Param', 'Type', 'Required', 'Meaning'], rows) : 'No params.'
  const { name, description } = method.result
  return `## ${method.name}\n\n${method.summary}\n\n${params}\n\nResult ${code(name)}: ${description}`
}

export const rpc = {
  file: 'docs/reference/rpc.md',
  async render() {
    const { methods } = await import('../../packages/server/dist/transport/rpc/methods.js')
    return `${generatedNote('packages/server/src/transport/rpc/methods.ts')}
# JSON-RPC methods

\`POST /rpc\` on the gateway, with an agent token as bearer token. Params are named, and may be left out
where none is required. Every method also takes \`session_id\`, which the header \`Gatehouse-Session\` can carry
instead. Errors are in [errors.md](errors.md).

${[...methods.values()].map(section).join('\n\n')}
`
  },
}
