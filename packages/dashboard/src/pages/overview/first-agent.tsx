import type { Agent } from '@gatehouse/contract'
import { overviewText as text } from '../../messages/overview.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { Snippet } from '../../ui/copy.tsx'
import { Icon } from '../../ui/icon.tsx'

/** Until the first call: what to do next. It comes alive when an agent connects, and goes with its first call. */
export const FirstAgent = ({
  agents,
  onCreate,
}: {
  readonly agents: readonly Agent[]
  readonly onCreate: () => void
}) => {
  const mayCreate = useMay('agents.manage')
  const connected = agents.find(({ last_connected }) => last_connected !== null)
  const [first] = agents
  return (
    <section
      className="card mb-6 grid grid-cols-1 justify-items-start gap-3 p-5"
      aria-label={text.first}
    >
      <h2 className="flex items-center gap-2 text-[1.067rem] font-semibold">
        <Icon name="agents" />
        {text.first}
      </h2>
      <p role="status">
        {connected
          ? text.firstConnected(connected.name)
          : first
            ? text.firstWaiting(first.name)
            : text.firstIntro}
      </p>
      {!connected && first && (
        <div className="w-full max-w-xl">
          <Snippet text={`gatehouse connect claude-code --agent ${first.name}`} />
        </div>
      )}
      {mayCreate && (
        <Button tone={first ? 'plain' : 'primary'} icon="plus" onClick={onCreate}>
          {text.firstCreate}
        </Button>
      )}
    </section>
  )
}
