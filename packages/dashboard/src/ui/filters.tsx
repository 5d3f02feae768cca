import type { ReactNode } from 'react'
import { useRead } from '../api.ts'
import { common } from '../messages/common.ts'
import { SelectField } from './field.tsx'
import { useHalfMinute } from './time.tsx'

/** Filters of a list, in a row; beneath each other on a phone. */
export const Filters = ({ children }: { readonly children: ReactNode }) => (
  <div className="mb-4 grid items-end gap-3 sm:flex sm:flex-wrap [&>*]:sm:min-w-40">{children}</div>
)

/** One agent, or all. An agent that is gone stays in the choice while it is chosen. */
export const AgentFilter = ({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (agent: string) => void
}) => {
  const names = useRead('listAgents').data?.agents.map(({ name }) => name) ?? []
  const all = value === '' || names.includes(value) ? names : [value, ...names]
  return (
    <SelectField
      label={common.agent}
      value={value}
      onChange={({ target }) => onChange(target.value)}
      options={[
        { value: '', text: common.allAgents },
        ...all.map((name) => ({ value: name, text: name })),
      ]}
    />
  )
}

const hourMs = 3_600_000
const lengthsMs = { '1h': hourMs, '24h': 24 * hourMs, '7d': 168 * hourMs, '30d': 720 * hourMs }

type Length = keyof typeof lengthsMs
const isLength = (range: string): range is Length => range in lengthsMs

/** When a range begins that is in the address. It moves on by a sixtieth of its length, so that a list is not read all the time. */
export function usePeriod(range: string): { readonly since?: string } {
  const now = useHalfMinute()
  if (!isLength(range)) return {}
  const lengthMs = lengthsMs[range]
  const stepMs = lengthMs / 60
  return { since: new Date(Math.floor(now / stepMs) * stepMs - lengthMs).toISOString() }
}

/** How far back a list goes. */
export const PeriodFilter = ({
  value,
  onChange,
}: {
  readonly value: string
  readonly onChange: (range: string) => void
}) => (
  <SelectField
    label={common.period}
    value={isLength(value) ? value : 'all'}
    onChange={({ target }) => onChange(target.value)}
    options={Object.entries(common.periods).map(([range, text]) => ({ value: range, text }))}
  />
)
