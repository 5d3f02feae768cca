import { createMCPClient } from '@ai-sdk/mcp'
import { drive } from '../../support/drive.mjs'

await drive(async ({ url, headers }) => {
  const client = await createMCPClient({ transport: { type: 'http', url, headers } })
  const tools = await client.tools()
  return {
    list: async () => Object.keys(tools),
    call: (name, args) => tools[name].execute(args, { toolCallId: 'call-1', messages: [] }),
    close: () => client.close(),
  }
})
