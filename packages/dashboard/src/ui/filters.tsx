import type { ReactNode } from 'react'
import { useRead } from '../api.ts'
import { common } from '../messages/common.ts'
import { SelectField } from './field.tsx'

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
