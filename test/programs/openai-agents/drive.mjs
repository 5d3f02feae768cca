import { MCPServerStreamableHttp } from '@openai/agents-core'
import { drive } from '../../support/drive.mjs'

await drive(async ({ url, headers }) => {
  // Its own limit for a call is 5 s, which is no time for a person.
  const server = new MCPServerStreamableHttp({ url, requestInit: { headers }, timeout: 60_000 })
  await server.connect()
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: (name, args) => server.callToolResult(name, args),
    close: () => server.close(),
  }
})
