import type { Approval } from '@gatehouse/contract'
import { useMemo, useState } from 'react'
import { useRead } from '../../api.ts'
import { approvalsText as text } from '../../messages/approvals.ts'
import { useMay } from '../../session.tsx'
import { type Shortcut, useShortcuts } from '../../shell/shortcuts.ts'
import { Button } from '../../ui/button.tsx'
import { Failure } from '../../ui/notice.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { useAct } from '../../ui/use-act.ts'
import { KeptCard, WaitingCard } from './card.tsx'
import { groupsOf } from './groups.ts'
import { Questions } from './questions.tsx'
import { decideMany, useKept } from './use-decide.ts'

const cards = (): readonly HTMLElement[] => [
  ...document.querySelectorAll<HTMLElement>('article[data-id]'),
]

const focused = (): HTMLElement | null =>
  document.activeElement?.closest<HTMLElement>('article[data-id]') ?? null

function move(by: 1 | -1): void {
  const all = cards()
  const here = focused()
  const at = here ? all.indexOf(here) + by : by > 0 ? 0 : all.length - 1
  const next = all[Math.min(Math.max(at, 0), all.length - 1)]
  next?.focus({ preventScroll: true })
  next?.scrollIntoView({ block: 'start', behavior: 'smooth' })
}

/** Presses the button of the card in focus: what a key decides is what a finger would. */
const press = (decision: 'approve' | 'reject') => () =>
  focused()?.querySelector<HTMLButtonElement>(`[data-decide="${decision}"]`)?.click()

const keys: readonly Shortcut[] = [
  { keys: 'j', text: text.keys.next, group: 'page', run: () => move(1) },
  { keys: 'k', text: text.keys.previous, group: 'page', run: () => move(-1) },
  { keys: 'a', text: text.keys.approve, group: 'page', run: press('approve') },
  { keys: 'r', text: text.keys.reject, group: 'page', run: press('reject') },
]

/** One decision on all that are selected. */
const Bulk = ({
  approvals,
  onDecided,
  onClear,
}: {
  readonly approvals: readonly Approval[]
  readonly onDecided: (ids: readonly string[]) => void
  readonly onClear: () => void
}) => {
  const act = useAct()
  const decide = (decision: 'approve' | 'reject') =>
    void act
      .run(() => decideMany(approvals, decision))
      .then((done) => {
        if (done) onDecided(approvals.map(({ id }) => id))
      })
  return (
    <div className="card sticky bottom-3 z-20 mt-4 grid gap-2 p-3 shadow-lg">
      <Failure error={act.error} />
      <div className="flex flex-wrap items-center gap-2">
        <p className="grow font-medium" role="status">
          {text.selected(approvals.length)}
        </p>
        <Button tone="primary" icon="check" busy={act.busy} onClick={() => decide('approve')}>
          {text.approveCount(approvals.length)}
        </Button>
        <Button tone="danger" icon="cross" busy={act.busy} onClick={() => decide('reject')}>
          {text.rejectCount(approvals.length)}
        </Button>
        <Button tone="quiet" onClick={onClear}>
          {text.clearSelection}
        </Button>
      </div>
    </div>
  )
}

const Queue = ({ approvals }: { readonly approvals: readonly Approval[] }) => {
  const mayDecide = useMay('approvals.decide')
  const { kept, keep, dismiss } = useKept()
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set())
  useShortcuts(keys)
  const groups = useMemo(() => groupsOf(approvals), [approvals])
  const waiting = new Set<string>(approvals.map(({ id }) => id))
  const gone = [...kept].filter((id) => !waiting.has(id))
  const chosen = groups.filter(({ key }) => selected.has(key)).flatMap(({ all }) => all)
  const onDecided = (ids: readonly string[]) => {
    keep(ids)
    setSelected((before) => new Set([...before].filter((id) => !ids.includes(id))))
  }
  const toggle = (key: string) =>
    setSelected((before) => {
      const next = new Set(before)
      if (!next.delete(key)) next.add(key)
      return next
    })
  return (
    <div className="grid gap-4">
      {gone.map((id) => (
        <KeptCard key={id} id={id} isLast={id === gone.at(-1)} onDismiss={() => dismiss(id)} />
      ))}
      {mayDecide && groups.length > 1 && (
        <div>
          <Button onClick={() => setSelected(new Set(groups.map(({ key }) => key)))}>
            {text.selectAll}
          </Button>
        </div>
      )}
      {groups.map((group) => (
        <WaitingCard
          key={group.key}
          group={group}
          onDecided={onDecided}
          aside={
            mayDecide &&
            groups.length > 1 && (
              <input
                type="checkbox"
                className="size-6"
                aria-label={text.select(group.first.capability)}
                checked={selected.has(group.key)}
                onChange={() => toggle(group.key)}
              />
            )
          }
        />
      ))}
      {groups.length === 0 && (
        <Empty icon="approvals" title={text.nothingWaits}>
          {text.nothingWaitsNext}
        </Empty>
      )}
      {chosen.length > 0 && (
        <Bulk approvals={chosen} onDecided={onDecided} onClear={() => setSelected(new Set())} />
      )}
    </div>
  )
}

export const Waiting = () => (
  <>
    <Questions />
    <Loaded query={useRead('listApprovals')}>
      {({ approvals }) => <Queue approvals={approvals} />}
    </Loaded>
  </>
)
