import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as LegacyClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js'
import { StreamableHTTPClientTransport as LegacyTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { drive } from './drive.mjs'

const info = { name: 'driver', version: '1.0.0' }

/** The official SDK, in either generation over HTTP, or in front of a program that stands between it and the gate. */
const open = {
  async modern({ url, headers }) {
    const client = new Client(info, { versionNegotiation: { mode: 'auto' } })
    await client.connect(
      new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }),
    )
    return client
  },
  async legacy({ url, headers }) {
    const client = new LegacyClient(info)
    await client.connect(new LegacyTransport(new URL(url), { requestInit: { headers } }))
    return client
  },
  async stdio() {
    const client = new LegacyClient(info)
    const [command, ...args] = process.argv.slice(2)
    const { HOME, PATH, GATE_AUTHORIZATION } = process.env
    const env = { HOME, PATH, GATE_AUTHORIZATION }
    await client.connect(new StdioClientTransport({ command, args, env, stderr: 'ignore' }))
    return client
  },
}

await drive(async (gate) => {
  const client = await open[gate.era](gate)
  return {
    list: async () => (await client.listTools()).tools.map(({ name }) => name),
    call: (name, args) => client.callTool({ name, arguments: args }),
    close: () => client.close(),
  }
})
