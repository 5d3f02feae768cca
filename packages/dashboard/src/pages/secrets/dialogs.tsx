import type { Secret, SecretCheck } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { secretsText as text } from '../../messages/secrets.ts'
import { useAgentChoice } from '../../ui/agent-choice.ts'
import { changedFields } from '../../ui/changed-fields.ts'
import { ConfirmName, FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Visible } from '../../ui/visible.tsx'
import { blankScope, ScopeFields, scopeOf, typedOf } from './scope-fields.tsx'

type Closing = { readonly onClose: () => void }

const done = async (said: string, onClose: () => void): Promise<void> => {
  await queryClient.invalidateQueries({ queryKey: ['listSecrets'] })
  announce(said)
  onClose()
}

const ValueField = ({
  label,
  error,
  value,
  onChange,
}: {
  readonly label: string
  readonly error: string | undefined
  readonly value: string
  readonly onChange: (value: string) => void
}) => (
  <TextField
    label={label}
    hint={text.valueHint}
    error={error}
    type="password"
    autoComplete="off"
    required
    value={value}
    onChange={({ target }) => onChange(target.value)}
  />
)

export const AddDialog = ({ onClose }: Closing) => {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const [typed, setTyped] = useState(blankScope)
  const add = async () => {
    await api.addSecret({ name: name.trim(), value, ...scopeOf(typed) })
    await done(text.added(name.trim()), onClose)
  }
  return (
    <FormDialog title={text.add} submit={text.add} onSubmit={add} onClose={onClose}>
      {(errors) => (
        <>
          <TextField
            label={text.name}
            hint={text.nameHint}
            error={errors['name']}
            required
            autoComplete="off"
            spellCheck={false}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <ValueField
            label={text.value}
            error={errors['value']}
            value={value}
            onChange={setValue}
          />
          <ScopeFields typed={typed} errors={errors} onChange={setTyped} />
        </>
      )}
    </FormDialog>
  )
}

type OfSecret = Closing & { readonly secret: Secret }

export const RotateDialog = ({ secret: { name }, onClose }: OfSecret) => {
  const [value, setValue] = useState('')
  const rotate = async () => {
    await api.rotateSecret({ name, value })
    await done(text.rotatedSaid(name), onClose)
  }
  return (
    <FormDialog
      title={`${text.rotate}: ${name}`}
      submit={text.rotate}
      onSubmit={rotate}
      onClose={onClose}
    >
      {(errors) => (
        <ValueField
          label={text.newValue}
          error={errors['value']}
          value={value}
          onChange={setValue}
        />
      )}
    </FormDialog>
  )
}

export const EditDialog = ({ secret, onClose }: OfSecret) => {
  const { name } = secret
  const [began] = useState(() => typedOf(secret))
  const [typed, setTyped] = useState(began)
  const save = async () => {
    await api.changeSecret({ name, ...changedFields(scopeOf(began), scopeOf(typed)) })
    await done(text.saved(name), onClose)
  }
  return (
    <FormDialog
      title={`${text.edit}: ${name}`}
      submit={text.edit}
      onSubmit={save}
      onClose={onClose}
    >
      {(errors) => <ScopeFields typed={typed} errors={errors} onChange={setTyped} />}
    </FormDialog>
  )
}

export const DeleteDialog = ({ secret: { name }, onClose }: OfSecret) => (
  <ConfirmName
    title={text.deleteTitle(name)}
    name={name}
    submit={text.delete}
    onClose={onClose}
    onConfirm={async () => {
      await api.deleteSecret({ name })
      await done(text.deleted(name), onClose)
    }}
  >
    {text.deleteIntro}
  </ConfirmName>
)

export const CheckDialog = ({ secret: { name, capabilities, hosts }, onClose }: OfSecret) => {
  const { agent, field } = useAgentChoice()
  const [capability, setCapability] = useState(
    capabilities.find((one) => !/[*:]/.test(one)) ?? 'network.credentialed_request',
  )
  const [host, setHost] = useState(hosts.find((one) => !one.startsWith('*')) ?? '')
  const [found, setFound] = useState<SecretCheck | null>(null)
  const check = async () => {
    setFound(
      await api.checkSecret({
        name,
        agent,
        capability,
        ...(host.trim() === '' ? {} : { host: host.trim() }),
      }),
    )
  }
  return (
    <FormDialog
      title={text.checkTitle(name)}
      submit={text.checkSubmit}
      disabled={agent === ''}
      onSubmit={check}
      onClose={onClose}
    >
      <SelectField label={common.agent} {...field} />
      <TextField
        label={text.checkCapability}
        required
        value={capability}
        onChange={({ target }) => setCapability(target.value)}
      />
      <TextField
        label={text.checkHost}
        value={host}
        onChange={({ target }) => setHost(target.value)}
      />
      {found && (
        <Notice tone={found.allowed ? 'good' : 'warn'} role="status">
          <strong>{found.allowed ? text.allowed : text.refused}</strong>
          <Visible text={found.reason} />
        </Notice>
      )}
    </FormDialog>
  )
}

export const UnlockDialog = ({ onClose }: Closing) => {
  const [passphrase, setPassphrase] = useState('')
  const unlock = async () => {
    await api.unlockVault(passphrase === '' ? {} : { passphrase })
    await queryClient.invalidateQueries({ queryKey: ['showVault'] })
    await done(text.unlocked, onClose)
  }
  return (
    <FormDialog title={text.unlock} submit={text.unlock} onSubmit={unlock} onClose={onClose}>
      <TextField
        label={text.passphrase}
        hint={text.passphraseHint}
        type="password"
        autoComplete="off"
        value={passphrase}
        onChange={({ target }) => setPassphrase(target.value)}
      />
    </FormDialog>
  )
}
