import { useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { Button } from '../../ui/button.tsx'
import { Snippet } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'

/** Address that this node listens at for agents. */
const useGateway = (): string => {
  const nodes = useRead('listNodes').data?.nodes ?? []
  return nodes.find(({ answering }) => answering)?.address ?? 'http://127.0.0.1:7700'
}

const curl = (gateway: string, token: string): string =>
  [
    `curl -s ${gateway}/rpc -H 'Authorization: Bearer ${token}' \\`,
    `  -H 'Content-Type: application/json' \\`,
    `  -d '{"jsonrpc":"2.0","id":1,"method":"capabilities.list"}'`,
  ].join('\n')

/** The entry that most clients take. VS Code calls the list `servers`, others `mcpServers`. */
const entryOf = (gateway: string, token: string): string =>
  JSON.stringify(
    {
      gatehouse: {
        type: 'http',
        url: `${gateway}/mcp`,
        headers: { Authorization: `Bearer ${token}` },
      },
    },
    null,
    2,
  )

/** A token, once, with what to do with it; it says when the agent has connected. */
export const TokenDialog = ({
  name,
  token,
  warnings = [],
  onClose,
}: {
  readonly name: string
  readonly token: string
  readonly warnings?: readonly string[]
  readonly onClose: () => void
}) => {
  const agent = useRead('showAgent', { name }).data
  const gateway = useGateway()
  const state =
    (agent?.total_invocations ?? 0) > 0
      ? text.called
      : agent?.last_connected
        ? text.connected
        : null
  return (
    <Dialog title={text.tokenTitle(name)} onClose={onClose} wide>
      <div className="grid grid-cols-1 gap-4">
        <Notice tone="warn">{text.tokenOnce}</Notice>
        {warnings.map((warning) => (
          <Notice key={warning} tone="warn">
            {warning}
          </Notice>
        ))}
        <Snippet text={token} label={text.tokenCopy} />
        <div>
          <h3 className="mb-1 font-medium">{text.connectClaude}</h3>
          <Snippet text={`gatehouse connect claude-code --agent ${name}`} />
        </div>
        <div>
          <h3 className="mb-1 font-medium">{text.connectMcp}</h3>
          <Snippet text={`${gateway}/mcp`} />
        </div>
        <div>
          <h3 className="mb-1 font-medium">{text.connectFile}</h3>
          <Snippet text={entryOf(gateway, token)} />
        </div>
        <div>
          <h3 className="mb-1 font-medium">{text.connectCurl}</h3>
          <Snippet text={curl(gateway, token)} />
        </div>
        <Notice tone={state === null ? 'info' : 'good'} role="status">
          {state ?? text.waiting}
        </Notice>
        <div className="flex justify-end">
          <Button tone="primary" onClick={onClose}>
            {text.done}
          </Button>
        </div>
      </div>
    </Dialog>
  )
}
