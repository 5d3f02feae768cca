import type { Operator, PersonRole } from '@gatehouse/contract'
import { useMemo, useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { useMay, useSession } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ConfirmName, FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Section } from '../../ui/page.tsx'
import { Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'

const refresh = () => queryClient.invalidateQueries({ queryKey: ['listOperators'] })

const roles = ['operator', 'approver', 'viewer'] as const satisfies readonly PersonRole[]

/** A password and a role for a name; a new name is a new person. Your own asks for the present one. */
const PasswordDialog = ({
  known,
  onClose,
}: {
  readonly known: Operator | null
  readonly onClose: () => void
}) => {
  const { whoami } = useSession()
  const [name, setName] = useState(known?.name ?? '')
  const [password, setPassword] = useState('')
  const [current, setCurrent] = useState('')
  const [role, setRole] = useState<PersonRole>(known?.role ?? 'approver')
  const save = async () => {
    const { created } = await api.setPassword({
      name: name.trim(),
      password,
      // Somebody else may have removed this person meanwhile, or given them another role that was not chosen here.
      existing: known !== null,
      ...(role === known?.role ? {} : { role }),
      ...(current === '' ? {} : { current_password: current }),
    })
    await refresh()
    announce(created ? text.operatorAdded(name.trim()) : text.passwordSet(name.trim()))
    onClose()
  }
  const title = known === null ? text.addOperator : `${text.setPassword}: ${known.name}`
  return (
    <FormDialog
      title={title}
      submit={known === null ? text.addOperator : text.setPassword}
      onSubmit={save}
      onClose={onClose}
    >
      {(errors) => (
        <>
          {known === null && (
            <TextField
              label={text.name}
              hint={text.nameHint}
              error={errors['name']}
              required
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              value={name}
              onChange={({ target }) => setName(target.value)}
            />
          )}
          <SelectField
            label={text.role}
            error={errors['role']}
            value={role}
            onChange={({ target }) =>
              setRole(roles.find((one) => one === target.value) ?? 'viewer')
            }
            options={roles.map((value) => ({ value, text: text.roles[value] }))}
          />
          {whoami.via === 'login' && (
            <TextField
              label={text.ownPassword}
              error={errors['current_password']}
              type="password"
              autoComplete="current-password"
              required
              value={current}
              onChange={({ target }) => setCurrent(target.value)}
            />
          )}
          <TextField
            label={text.password}
            hint={text.passwordHint}
            error={errors['password']}
            type="password"
            autoComplete="new-password"
            required
            minLength={8}
            maxLength={1024}
            value={password}
            onChange={({ target }) => setPassword(target.value)}
          />
        </>
      )}
    </FormDialog>
  )
}

const facts: readonly Column<Operator>[] = [
  {
    id: 'name',
    header: text.name,
    wide: true,
    sortBy: ({ name }) => name,
    cell: ({ name }) => name,
  },
  { id: 'role', header: text.role, cell: ({ role }) => text.roles[role] },
  { id: 'created', header: text.created, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'password',
    header: text.passwordChanged,
    cell: ({ password_changed_at }) => <Time at={password_changed_at} />,
  },
]

type Opened =
  | { readonly what: 'password' | 'remove'; readonly person: Operator }
  | { readonly what: 'add' }

export const People = () => {
  const [opened, setOpened] = useState<Opened | null>(null)
  const mayManage = useMay('operators.manage')
  const close = () => setOpened(null)
  const columns = useMemo(
    () =>
      mayManage
        ? [
            ...facts,
            {
              id: 'actions',
              header: '',
              cell: (person: Operator) => (
                <span className="flex flex-wrap gap-2 sm:flex-nowrap">
                  <Button
                    className="whitespace-nowrap"
                    aria-label={`${text.setPassword}: ${person.name}`}
                    onClick={() => setOpened({ what: 'password', person })}
                  >
                    {text.setPassword}
                  </Button>
                  <Button
                    tone="danger"
                    aria-label={`${text.remove}: ${person.name}`}
                    onClick={() => setOpened({ what: 'remove', person })}
                  >
                    {text.remove}
                  </Button>
                </span>
              ),
            },
          ]
        : facts,
    [mayManage],
  )
  return (
    <Section
      title={text.operators}
      actions={
        mayManage && (
          <Button icon="plus" tone="primary" onClick={() => setOpened({ what: 'add' })}>
            {text.addOperator}
          </Button>
        )
      }
    >
      <Loaded query={useRead('listOperators')}>
        {({ operators }) => (
          <DataTable
            caption={text.operators}
            rows={operators}
            columns={columns}
            keyOf={({ name }) => name}
            sort={{ id: 'name' }}
          />
        )}
      </Loaded>
      {opened?.what === 'add' && <PasswordDialog known={null} onClose={close} />}
      {opened?.what === 'password' && <PasswordDialog known={opened.person} onClose={close} />}
      {opened?.what === 'remove' && (
        <ConfirmName
          title={text.removeTitle(opened.person.name)}
          name={opened.person.name}
          submit={text.remove}
          onClose={close}
          onConfirm={async () => {
            await api.removeOperator({ name: opened.person.name })
            await refresh()
            announce(text.removed(opened.person.name))
            close()
          }}
        >
          {text.removeIntro}
        </ConfirmName>
      )}
    </Section>
  )
}
