/** Texts that every MCP client reads: the answer to its handshake and the list of tools, as they ship. */
export const mcp = {
  file: 'docs/reference/mcp.json',
  async render() {
    const dist = '../../packages/server/dist'
    const { createRegistry } = await import(`${dist}/capabilities/registry.js`)
    const { standardCapabilities } = await import(`${dist}/capabilities/standard.js`)
    const { ToolNames } = await import(`${dist}/transport/http/tool-names.js`)
    const { initialize } = await import(`${dist}/transport/mcp/peer.js`)
    const { pageOfTools } = await import(`${dist}/transport/mcp/tools.js`)
    const { legacyVersions } = await import(`${dist}/transport/mcp/versions.js`)
    const listed = createRegistry(standardCapabilities)
      .list()
      .filter(({ performer }) => performer === 'service')
      .filter(({ tier }) => tier !== 'blocked')
      .map((capability) => ({ capability, tier: capability.tier }))
    const known = listed.map(({ capability }) => capability.name)
    const names = new ToolNames(() => known)
    const { result } = initialize({ version: '<version>' }, { protocolVersion: legacyVersions[0] })
    const { entries } = pageOfTools(listed, undefined, names)
    const page = {
      'protocol versions': legacyVersions,
      initialize: result({ prompts: false, resources: false, completions: false }),
      tools: entries.map(({ tool }) => tool),
    }
    return `${JSON.stringify(page, null, 2)}\n`
  },
}
