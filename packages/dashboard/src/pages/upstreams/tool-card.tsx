import type { PolicyTier, UpstreamTool } from '@gatehouse/contract'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { Button } from '../../ui/button.tsx'
import { Code, Diff } from '../../ui/code.tsx'
import { lineDiff } from '../../ui/line-diff.ts'
import { Notice } from '../../ui/notice.tsx'
import { Visible } from '../../ui/visible.tsx'
import { ToolStateBadge } from './status.tsx'

const Definition = ({ tool: { accepted, found } }: { readonly tool: UpstreamTool }) => {
  if (accepted !== null && found !== null)
    return <Diff text={lineDiff(accepted, found)} label={text.difference} />
  if (accepted !== null) return <Code text={accepted} label={text.accepted} />
  return found === null ? null : <Code text={found} label={text.found} />
}

export const needsReview = ({ state }: Pick<UpstreamTool, 'state'>): boolean =>
  state === 'new' || state === 'changed' || state === 'vanished'

/** A tool as a model would read it, how it differs from what was accepted, and what to look at. */
export const ToolCard = ({
  tool,
  tiers,
  busy,
  onAccept,
  onDecline,
}: {
  readonly tool: UpstreamTool
  /** Agents by tier; null while policy does not know the tool. */
  readonly tiers: Readonly<Record<PolicyTier, number>> | null
  readonly busy: boolean
  /** Null where the person may not accept, or there is nothing to accept. */
  readonly onAccept: (() => void) | null
  /** Null where the person may not, or nothing new is there to be declined. */
  readonly onDecline: (() => void) | null
}) => (
  <li className="card grid grid-cols-1 gap-2 p-4" data-tool={tool.tool}>
    <div className="flex flex-wrap items-center gap-2">
      <h3 className="min-w-0 font-medium [overflow-wrap:anywhere]">
        <Visible text={tool.capability ?? tool.tool} />
      </h3>
      <ToolStateBadge state={tool.state} />
      <span className="grow text-[0.933rem] text-ink-soft">
        {text.suggested[tool.suggested_tier]}
      </span>
      {onDecline && (
        <Button busy={busy} aria-label={`${text.decline}: ${tool.tool}`} onClick={onDecline}>
          {text.decline}
        </Button>
      )}
      {onAccept && (
        <Button
          tone="primary"
          busy={busy}
          aria-label={`${text.accept}: ${tool.tool}`}
          onClick={onAccept}
        >
          {text.accept}
        </Button>
      )}
    </div>
    <p className="[overflow-wrap:anywhere]">
      <Visible text={tool.description} lines />
    </p>
    {tiers && <p className="text-ink-soft">{text.tiers(tiers)}</p>}
    {tool.arguments.length > 0 && (
      <p className="mono text-ink-soft [overflow-wrap:anywhere]">
        {text.arguments}: <Visible text={tool.arguments.join(', ')} />
      </p>
    )}
    {tool.problem !== null && (
      <Notice tone="bad">
        <Visible text={tool.problem} />
      </Notice>
    )}
    {tool.state === 'declined' && <p className="text-ink-soft">{text.declinedNote}</p>}
    {tool.renamed_from !== null && <Notice tone="warn">{text.renamed(tool.renamed_from)}</Notice>}
    {tool.marks.map(({ kind, detail }) => (
      <Notice key={`${kind}${detail}`} tone="warn">
        <Visible text={detail} />
      </Notice>
    ))}
    {(needsReview(tool) || tool.state === 'declined') && <Definition tool={tool} />}
  </li>
)
