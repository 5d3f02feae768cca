import type { PolicySimulation, PolicyTier, ReadyPolicy } from '@gatehouse/contract'
import { useState } from 'react'
import { useRead } from '../../api.ts'
import { policyText as text } from '../../messages/policy.ts'
import { Choice } from '../../ui/choice.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Loaded } from '../../ui/states.tsx'
import { draftInput, type Place } from './drafts.ts'
import { TierBadge } from './tier.tsx'

/** A capability that gets another tier, and the agents for which it does. */
type Change = {
  readonly capability: string
  readonly from: PolicyTier
  readonly to: PolicyTier
  readonly agents: readonly string[]
}

function changesIn({ results }: PolicySimulation): readonly Change[] {
  const found = new Map<string, Change>()
  for (const { agent, capability, active_tier: from, tier: to } of results) {
    if (from === null || from === to) continue
    const key = `${capability} ${from}`
    const agents = [...(found.get(key)?.agents ?? []), agent]
    found.set(key, { capability, from, to, agents })
  }
  return [...found.values()]
}

const columns: readonly Column<Change>[] = [
  {
    id: 'capability',
    header: text.capability,
    cell: ({ capability }) => <span className="mono">{capability}</span>,
  },
  { id: 'from', header: text.from, cell: ({ from }) => <TierBadge tier={from} /> },
  { id: 'to', header: text.readyTo, cell: ({ to }) => <TierBadge tier={to} /> },
  { id: 'agents', header: text.agents, wide: true, cell: ({ agents }) => agents.join(', ') },
]

const Changes = ({ policy, place }: { readonly policy: ReadyPolicy; readonly place: Place }) => (
  <Loaded
    query={useRead('simulatePolicy', {
      draft: draftInput({ ...place, text: policy.text }),
      ...(place.agent === null ? {} : { agents: [place.agent] }),
    })}
  >
    {(simulation) => {
      const changes = changesIn(simulation)
      return (
        <>
          <p role="status">{text.readyChanges(changes.length)}</p>
          {changes.length > 0 && (
            // An element that scrolls takes the focus, so that a keyboard can scroll it.
            <div
              role="region"
              aria-label={text.readyTable}
              tabIndex={0}
              className="max-h-[45vh] overflow-auto"
            >
              <DataTable
                caption={text.readyTable}
                rows={changes}
                columns={columns}
                keyOf={({ capability, from }) => `${capability} ${from}`}
              />
            </div>
          )}
        </>
      )
    }}
  </Loaded>
)

/** Shows what each ready policy would change, and hands the text of one on. */
export const ReadyDialog = ({
  place,
  isOver,
  onUse,
  onClose,
}: {
  readonly place: Place
  /** Whether somebody typed a draft that the text replaces. */
  readonly isOver: boolean
  readonly onUse: (policy: string) => void
  readonly onClose: () => void
}) => {
  const ready = useRead('listReadyPolicies')
  const [name, setName] = useState('')
  const policies = ready.data?.policies ?? []
  const chosen = policies.find((one) => one.name === name) ?? policies[0]
  return (
    <FormDialog
      title={text.readyTitle(place.file)}
      submit={text.readySubmit}
      disabled={!chosen}
      wide
      onSubmit={() => {
        if (chosen) onUse(chosen.text)
        return Promise.resolve()
      }}
      onClose={onClose}
    >
      <Loaded query={ready}>
        {() =>
          chosen && (
            <div className="grid grid-cols-1 gap-3">
              <div className="flex">
                <Choice
                  label={text.readyLabel}
                  value={chosen.name}
                  options={policies.map((one) => ({ value: one.name, text: one.name }))}
                  onChange={setName}
                />
              </div>
              <p>{chosen.summary}</p>
              {isOver && <Notice tone="warn">{text.readyOver}</Notice>}
              <Changes policy={chosen} place={place} />
            </div>
          )
        }
      </Loaded>
    </FormDialog>
  )
}
