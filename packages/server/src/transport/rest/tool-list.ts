import type { AgentDetail } from '@gatehouse/contract'
import type { App } from '../../app/app.ts'
import type { ListedCapability } from '../../app/call/invoke.ts'
import { offeredTools } from '../../app/call/offered-tools.ts'
import { renderTool } from '../http/tool-entry.ts'
import { toolNamesOf } from '../http/tool-names.ts'

/** JSON like that of tools has 4.2 to 4.5 characters a token with usual tokenizers. */
const bytesPerToken = 4

/** Size of a listing for the model that reads it over MCP. */
export const toolListOf = (
  app: App,
  listed: readonly ListedCapability[],
): AgentDetail['tool_list'] => {
  const offered = offeredTools(listed)
  const tools = offered.map((entry) => renderTool(entry, toolNamesOf(app)).json)
  const size_bytes = Buffer.byteLength(`{"tools":[${tools.join(',')}]}`)
  return {
    offered: offered.length,
    callable: listed.length,
    size_bytes,
    tokens_estimate: Math.ceil(size_bytes / bytesPerToken),
  }
}
