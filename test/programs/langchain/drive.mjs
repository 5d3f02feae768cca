import { MultiServerMCPClient } from '@langchain/mcp-adapters'
import { drive } from '../../support/drive.mjs'

await drive(async ({ url, headers }) => {
  const client = new MultiServerMCPClient({
    mcpServers: { gate: { transport: 'http', url, headers } },
  })
  const tools = await client.getTools()
  return {
    list: async () => tools.map(({ name }) => name),
    // One part comes without a list around it.
    call: async (name, args) => ({
      content: [await tools.find((tool) => tool.name === name).invoke(args)].flat(),
    }),
    close: () => client.close(),
  }
})
