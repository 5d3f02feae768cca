import { type AnswerOf, useRead } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { Button } from '../../ui/button.tsx'
import { Snippet } from '../../ui/copy.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loaded } from '../../ui/states.tsx'

/** Address that this node listens at for agents. */
const gatewayOf = ({ nodes }: AnswerOf<'listNodes'>): string =>
  nodes.find(({ answering }) => answering)?.address ?? 'http://127.0.0.1:7700'

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

/** Texts with the address in them: a person copies what stands here, so there are none before it is known. */
const Addresses = ({ gateway, token }: { readonly gateway: string; readonly token: string }) => (
  <>
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
  </>
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
  const nodes = useRead('listNodes')
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
        <Loaded query={nodes}>
          {(read) => <Addresses gateway={gatewayOf(read)} token={token} />}
        </Loaded>
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
