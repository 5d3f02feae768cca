import { type ReactNode, useId, useState } from 'react'
import { useRead } from '../api.ts'
import { common } from '../messages/common.ts'
import { filtersText } from '../messages/filters.ts'
import { Button } from './button.tsx'
import { cx } from './cx.ts'
import { SelectField } from './field.tsx'
import { useHalfMinute } from './time.tsx'

type Values = Readonly<Record<string, string>>

/** How many filters are not as on a page that nobody has filtered. */
export const filtersSet = (values: Values, none: Values): number =>
  Object.keys(none).filter((name) => values[name] !== none[name]).length

/**
 * Filters of a list, in a row. A phone has no room for them above the list: there they are behind a button, which says
 * how many are set.
 */
export const Filters = ({
  set,
  children,
}: {
  /** How many are set. Without it they are few, and always shown. */
  readonly set?: number
  readonly children: ReactNode
}) => {
  const id = useId()
  const [open, setOpen] = useState(false)
  return (
    <div className="mb-4">
      {set !== undefined && (
        <Button
          icon="filter"
          aria-expanded={open}
          aria-controls={id}
          className={cx('w-full sm:hidden', set > 0 && 'border-accent text-accent-strong')}
          onClick={() => setOpen(!open)}
        >
          {filtersText.filters(set)}
        </Button>
      )}
      <div
        id={id}
        className={cx(
          'grid items-end gap-3 sm:flex sm:flex-wrap [&>*]:sm:min-w-40',
          set !== undefined && (open ? 'max-sm:mt-3' : 'max-sm:hidden'),
        )}
      >
        {children}
      </div>
    </div>
  )
}

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
