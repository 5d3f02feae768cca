import type { ServiceKind } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toasts.tsx'

type Schema = {
  readonly type?: string
  readonly description?: string
  readonly default?: unknown
  readonly enum?: readonly unknown[]
  readonly properties?: Readonly<Record<string, Schema>>
  readonly required?: readonly string[]
}

type Typed = Readonly<Record<string, string>>

/** Fields of the settings that a kind asks for; those that hold further fields stand behind a dot. */
function fieldsOf(schema: Schema, prefix = ''): readonly (readonly [string, Schema, boolean])[] {
  return Object.entries(schema.properties ?? {}).flatMap(([name, field]) => {
    const path = `${prefix}${name}`
    if (field.properties) return fieldsOf(field, `${path}.`)
    const needed = (schema.required ?? []).includes(name) && field.default === undefined
    return [[path, field, needed] as const]
  })
}

const linesOf = (written: string): string[] =>
  written
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')

const valueOf = (field: Schema, written: string): unknown => {
  if (field.type === 'integer' || field.type === 'number') return Number(written)
  if (field.type === 'boolean') return written === 'true'
  if (field.type === 'array') return linesOf(written)
  return written
}

/** Typed fields as the object that the service takes; what is empty is left out. */
export function settingsOf(schema: Schema, typed: Typed): Readonly<Record<string, unknown>> {
  const settings: Record<string, unknown> = {}
  for (const [path, field] of fieldsOf(schema)) {
    const written = typed[path] ?? ''
    if (written === '') continue
    const names = path.split('.')
    let at = settings
    for (const name of names.slice(0, -1)) {
      at[name] ??= {}
      at = at[name] as Record<string, unknown>
    }
    at[names.at(-1) ?? path] = valueOf(field, written)
  }
  return settings
}

const SettingField = ({
  path,
  field,
  needed,
  value,
  error,
  onChange,
}: {
  readonly path: string
  readonly field: Schema
  readonly needed: boolean
  readonly value: string
  readonly error: string | undefined
  readonly onChange: (value: string) => void
}) => {
  const label = path.replaceAll(/[._]/g, ' ')
  const hint =
    field.description ?? (field.default === undefined ? undefined : String(field.default as string))
  if (field.type === 'boolean')
    return (
      <Checkbox
        label={label}
        hint={hint}
        checked={(value || String(field.default as boolean)) === 'true'}
        onChange={({ target }) => onChange(String(target.checked))}
      />
    )
  if (field.enum)
    return (
      <SelectField
        label={label}
        hint={hint}
        error={error}
        value={value || String(field.default as string)}
        onChange={({ target }) => onChange(target.value)}
        options={field.enum.map((one) => ({ value: String(one), text: String(one) }))}
      />
    )
  if (field.type === 'array')
    return (
      <TextArea
        label={text.list(label)}
        hint={hint}
        error={error}
        rows={2}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )
  return (
    <TextField
      label={label}
      hint={hint}
      error={error}
      required={needed}
      type={field.type === 'integer' || field.type === 'number' ? 'number' : 'text'}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

const Form = ({
  kinds,
  onClose,
}: {
  readonly kinds: readonly ServiceKind[]
  readonly onClose: () => void
}) => {
  const [chosen, setChosen] = useState(kinds[0]?.kind ?? '')
  const [name, setName] = useState('')
  const [typed, setTyped] = useState<Typed>({})
  const [secrets, setSecrets] = useState<Typed>({})
  const [agents, setAgents] = useState('*')
  const kind = kinds.find((one) => one.kind === chosen)
  const connect = async () => {
    const given = Object.entries(secrets).filter(([, value]) => value !== '')
    const { service } = await api.connectService({
      kind: chosen,
      settings: kind ? settingsOf(kind.settings, typed) : {},
      secrets: Object.fromEntries(given),
      agents: linesOf(agents),
      ...(name.trim() === '' ? {} : { name: name.trim() }),
    })
    await queryClient.invalidateQueries({ queryKey: ['showProxy'] })
    announce(text.connected(service.name))
    onClose()
  }
  return (
    <FormDialog title={text.connect} submit={text.connect} onSubmit={connect} onClose={onClose}>
      {(errors) => (
        <>
          <SelectField
            label={text.kind}
            value={chosen}
            onChange={({ target }) => setChosen(target.value)}
            options={kinds.map(({ kind: value, title }) => ({ value, text: title }))}
          />
          <TextField
            label={text.name}
            hint={text.nameHint}
            error={errors['name']}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          {kind &&
            fieldsOf(kind.settings).map(([path, field, needed]) => (
              <SettingField
                key={path}
                path={path}
                field={field}
                needed={needed}
                value={typed[path] ?? ''}
                error={errors[path]}
                onChange={(value) => setTyped({ ...typed, [path]: value })}
              />
            ))}
          {kind?.secrets.map(({ name: secret, description, required }) => (
            <TextField
              key={secret}
              label={secret}
              hint={description}
              type="password"
              autoComplete="off"
              required={required}
              value={secrets[secret] ?? ''}
              onChange={({ target }) => setSecrets({ ...secrets, [secret]: target.value })}
            />
          ))}
          <TextArea
            label={text.agents}
            hint={text.agentsHint}
            error={errors['agents']}
            rows={2}
            required
            value={agents}
            onChange={({ target }) => setAgents(target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}

/** Connects a service of a kind, with the settings and credentials that the kind asks for. */
export const ConnectDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const kinds = useRead('listServiceKinds').data?.kinds
  return kinds ? <Form kinds={kinds} onClose={onClose} /> : null
}
