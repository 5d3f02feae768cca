import { MCPServerStreamableHttp } from '@openai/agents-core'
import { drive } from '../../support/drive.mjs'

await drive(async ({ url, headers }) => {
  // Its own limits are 5 s, which is no time for a person, or for a busy machine to say which tools there are.
  const server = new MCPServerStreamableHttp({
    ...{ url, requestInit: { headers } },
    ...{ timeout: 60_000, clientSessionTimeoutSeconds: 60 },
  })
  await server.connect()
  return {
    list: async () => (await server.listTools()).map(({ name }) => name),
    call: (name, args) => server.callToolResult(name, args),
    close: () => server.close(),
  }
})
