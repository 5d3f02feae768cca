import type { Secret } from '@gatehouse/contract'
import { secretsText as text } from '../../messages/secrets.ts'
import { TextArea, TextField } from '../../ui/field.tsx'

/** Scope as it is typed: lists have one item a line. */
export type TypedScope = {
  readonly description: string
  readonly capabilities: string
  readonly hosts: string
  readonly agents: string
}

export const blankScope: TypedScope = { description: '', capabilities: '', hosts: '', agents: '' }

export const typedOf = ({ description, capabilities, hosts, agents }: Secret): TypedScope => ({
  description,
  capabilities: capabilities.join('\n'),
  hosts: hosts.join('\n'),
  agents: agents.join('\n'),
})

const linesOf = (written: string): string[] =>
  written
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

export const scopeOf = ({ description, capabilities, hosts, agents }: TypedScope) => ({
  description,
  capabilities: linesOf(capabilities),
  hosts: linesOf(hosts),
  agents: linesOf(agents),
})

const lists = [
  ['capabilities', text.capabilities, text.capabilitiesHint],
  ['hosts', text.hosts, text.hostsHint],
  ['agents', text.agents, text.agentsHint],
] as const

export const ScopeFields = ({
  typed,
  errors,
  onChange,
}: {
  readonly typed: TypedScope
  readonly errors: Readonly<Record<string, string>>
  readonly onChange: (typed: TypedScope) => void
}) => (
  <>
    <TextField
      label={text.description}
      error={errors['description']}
      maxLength={500}
      value={typed.description}
      onChange={({ target }) => onChange({ ...typed, description: target.value })}
    />
    {lists.map(([field, label, hint]) => (
      <TextArea
        key={field}
        label={label}
        hint={hint}
        error={errors[field]}
        mono
        rows={2}
        spellCheck={false}
        value={typed[field]}
        onChange={({ target }) => onChange({ ...typed, [field]: target.value })}
      />
    ))}
    <p className="text-ink-soft">{text.emptyRefuses}</p>
  </>
)
