import type { ProxyService, ServiceKind } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { servicesText as text } from '../../messages/services.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { announce } from '../../ui/toasts.tsx'
import { AgentsField } from './agents-field.tsx'
import { labelOf, SettingField } from './setting-field.tsx'
import { type Setting, settingsIn, settingsOf, type Typed, typedOf } from './typed-settings.ts'

const SettingFields = ({
  settings,
  required = false,
  typed,
  onChange,
}: {
  readonly settings: readonly (readonly [string, Setting])[]
  readonly required?: boolean
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
}) =>
  settings.map(([name, setting]) => (
    <SettingField
      key={name}
      name={name}
      setting={setting}
      required={required}
      value={typed[name] ?? ''}
      onChange={(value) => onChange({ ...typed, [name]: value })}
    />
  ))

const SecretFields = ({
  secrets,
  areKept,
  typed,
  onChange,
}: {
  readonly secrets: ServiceKind['secrets']
  readonly areKept: boolean
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
}) =>
  secrets.map(({ name, description, required }) => (
    <TextField
      key={name}
      label={labelOf(name)}
      hint={areKept ? `${description} ${text.keepsSecret}` : description}
      type="password"
      autoComplete="off"
      required={required && !areKept}
      value={typed[name] ?? ''}
      onChange={({ target }) => onChange({ ...typed, [name]: target.value })}
    />
  ))

const Form = ({
  kinds,
  service,
  onClose,
}: {
  readonly kinds: readonly [ServiceKind, ...ServiceKind[]]
  readonly service: ProxyService | null
  readonly onClose: () => void
}) => {
  const [chosen, setChosen] = useState(service?.kind ?? kinds[0].kind)
  const [name, setName] = useState(service?.name ?? '')
  const [typed, setTyped] = useState<Typed>(() => typedOf(service?.settings ?? {}))
  const [secrets, setSecrets] = useState<Typed>({})
  const [agents, setAgents] = useState<readonly string[]>(service?.agents ?? [])
  const kind = kinds.find((one) => one.kind === chosen) ?? kinds[0]
  const { needed, others } = settingsIn(kind.settings)
  const connect = async () => {
    const given = Object.entries(secrets).filter(([, value]) => value !== '')
    const connected = await api.connectService({
      kind: kind.kind,
      settings: settingsOf(kind.settings, typed),
      secrets: Object.fromEntries(given),
      agents: [...agents],
      ...(name.trim() === '' ? {} : { name: name.trim() }),
    })
    await queryClient.invalidateQueries({ queryKey: ['showProxy'] })
    announce(text.connected(connected.service.name))
    onClose()
  }
  return (
    <FormDialog
      title={service ? text.changeTitle(service.name) : text.connect}
      submit={text.testAndConnect}
      disabled={agents.length === 0}
      onSubmit={connect}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <p className="text-ink-soft">{text.connectIntro}</p>
          {!service && (
            <>
              <SelectField
                label={text.kind}
                value={kind.kind}
                onChange={({ target }) => setChosen(target.value)}
                options={kinds.map(({ kind: value, title }) => ({ value, text: title }))}
              />
              <TextField
                label={text.name}
                hint={text.nameHint(kind.kind)}
                error={errors['name']}
                value={name}
                onChange={({ target }) => setName(target.value)}
              />
            </>
          )}
          <SettingFields settings={needed} required typed={typed} onChange={setTyped} />
          <SecretFields
            secrets={kind.secrets}
            areKept={service !== null && service.status !== 'disconnected'}
            typed={secrets}
            onChange={setSecrets}
          />
          <details>
            <summary className="py-1 text-ink-soft">{text.moreSettings}</summary>
            <div className="mt-2 grid gap-4">
              <SettingFields settings={others} typed={typed} onChange={setTyped} />
            </div>
          </details>
          <AgentsField chosen={agents} onChange={setAgents} />
        </>
      )}
    </FormDialog>
  )
}

/** Connects a service of a kind, or one that is there anew, once everything about it was seen to work. */
export const ConnectDialog = ({
  service = null,
  onClose,
}: {
  readonly service?: ProxyService | null
  readonly onClose: () => void
}) => {
  const [first, ...others] = useRead('listServiceKinds').data?.kinds ?? []
  return first ? <Form kinds={[first, ...others]} service={service} onClose={onClose} /> : null
}
