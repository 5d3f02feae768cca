import type { Approval } from '@gatehouse/contract'
import { approvalsText as text } from '../../messages/approvals.ts'
import { Badge } from '../../ui/badge.tsx'
import { durationText } from '../../ui/time.tsx'
import { Visible } from '../../ui/visible.tsx'

const UndoBadge = ({
  undo,
  side_effects,
}: Pick<NonNullable<Approval['consequences']>, 'undo' | 'side_effects'>) => {
  if (undo !== null) return <Badge tone="good">{text.canUndo}</Badge>
  return side_effects.length > 0 ? (
    <Badge tone="warn">{text.cannotUndo}</Badge>
  ) : (
    <Badge>{text.changesNothing}</Badge>
  )
}

/** Consequences of the call, and how to undo it: read before the decision. */
export const Consequences = ({ approval: { consequences } }: { readonly approval: Approval }) => {
  if (!consequences) return null
  const { side_effects, held_seconds, undo, sandboxed } = consequences
  const held = held_seconds === null ? '' : text.held(durationText(held_seconds * 1000))
  return (
    <div className="grid gap-1 [overflow-wrap:anywhere]">
      <p className="flex flex-wrap items-center gap-x-2 gap-y-1">
        <UndoBadge undo={undo} side_effects={side_effects} />
        {sandboxed === false && <Badge tone="warn">{text.notSandboxed}</Badge>}
        <Visible text={[held, undo ?? ''].filter((part) => part !== '').join(' ')} />
      </p>
      {side_effects.length > 0 && (
        <p className="text-ink-soft">
          <Visible text={text.leadsTo(side_effects.map(({ what }) => what).join('; '))} />
        </p>
      )}
    </div>
  )
}
