import type { Role, UserToken } from '@gatehouse/contract'
import { useMemo, useState } from 'react'
import { api, queryClient, useRead } from '../../api.ts'
import { common } from '../../messages/common.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { useMay } from '../../session.tsx'
import { useAgentChoice } from '../../ui/agent-choice.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Snippet } from '../../ui/copy.tsx'
import { type Column, DataTable } from '../../ui/data-table.tsx'
import { ConfirmName, Dialog, FormDialog } from '../../ui/dialog.tsx'
import { SelectField, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Section } from '../../ui/page.tsx'
import { Empty, Loaded } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Visible } from '../../ui/visible.tsx'

const refresh = () => queryClient.invalidateQueries({ queryKey: ['listUserTokens'] })

const roles: readonly Role[] = ['viewer', 'approver', 'operator', 'hook']

/** Makes a token and then shows it, once. */
const CreateDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const { agent, field } = useAgentChoice()
  const [label, setLabel] = useState('')
  const [role, setRole] = useState<Role>('viewer')
  const [token, setToken] = useState<string | null>(null)
  const create = async () => {
    const made = await api.createUserToken({
      label: label.trim(),
      role,
      ...(role === 'hook' ? { agent } : {}),
    })
    await refresh()
    setToken(made.token)
  }
  if (token !== null)
    return (
      <Dialog title={text.tokenMade(label)} onClose={onClose}>
        <div className="grid grid-cols-1 gap-4">
          <Notice tone="warn">{text.tokenOnce}</Notice>
          <Snippet text={token} />
        </div>
      </Dialog>
    )
  return (
    <FormDialog
      title={text.addToken}
      submit={text.addToken}
      disabled={role === 'hook' && agent === ''}
      onSubmit={create}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <TextField
            label={text.label}
            error={errors['label']}
            required
            maxLength={100}
            value={label}
            onChange={({ target }) => setLabel(target.value)}
          />
          <SelectField
            label={text.role}
            value={role}
            onChange={({ target }) =>
              setRole(roles.find((one) => one === target.value) ?? 'viewer')
            }
            options={roles.map((value) => ({ value, text: text.roles[value] }))}
          />
          {role === 'hook' && (
            <SelectField label={text.tokenFor} error={errors['agent']} {...field} />
          )}
        </>
      )}
    </FormDialog>
  )
}

const facts: readonly Column<UserToken>[] = [
  {
    id: 'label',
    header: text.label,
    wide: true,
    sortBy: ({ label }) => label,
    cell: ({ label, revoked_at }) => (
      <>
        <Visible text={label} /> {revoked_at !== null && <Badge>{text.revokedAt}</Badge>}
      </>
    ),
  },
  {
    id: 'role',
    header: text.role,
    cell: ({ role, agent }) => `${text.roles[role]}${agent === null ? '' : ` (${agent})`}`,
  },
  { id: 'created', header: text.created, cell: ({ created_at }) => <Time at={created_at} /> },
  {
    id: 'used',
    header: text.lastUsed,
    cell: ({ last_used_at }) => (last_used_at === null ? common.never : <Time at={last_used_at} />),
  },
]

export const Tokens = () => {
  const [creating, setCreating] = useState(false)
  const [revoking, setRevoking] = useState<UserToken | null>(null)
  const mayManage = useMay('user_tokens.manage')
  const columns = useMemo(
    () =>
      mayManage
        ? [
            ...facts,
            {
              id: 'actions',
              header: '',
              cell: (token: UserToken) =>
                token.revoked_at === null && (
                  <Button
                    tone="danger"
                    aria-label={`${text.revoke}: ${token.label}`}
                    onClick={() => setRevoking(token)}
                  >
                    {text.revoke}
                  </Button>
                ),
            },
          ]
        : facts,
    [mayManage],
  )
  return (
    <Section
      title={text.tabs.tokens}
      actions={
        mayManage && (
          <Button icon="plus" tone="primary" onClick={() => setCreating(true)}>
            {text.addToken}
          </Button>
        )
      }
    >
      <p className="mb-3 max-w-prose text-ink-soft">{text.tokensIntro}</p>
      <Loaded query={useRead('listUserTokens')}>
        {({ user_tokens }) =>
          user_tokens.length === 0 ? (
            <Empty icon="secrets" title={text.noTokens}>
              {text.noTokensNext}
            </Empty>
          ) : (
            <DataTable
              caption={text.tabs.tokens}
              rows={user_tokens}
              columns={columns}
              keyOf={({ id }) => id}
              sort={{ id: 'label' }}
            />
          )
        }
      </Loaded>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
      {revoking && (
        <ConfirmName
          title={`${text.revoke}: ${revoking.label}`}
          name={revoking.label}
          submit={text.revoke}
          onClose={() => setRevoking(null)}
          onConfirm={async () => {
            await api.revokeUserToken({ id: revoking.id })
            await refresh()
            announce(text.tokenRevoked)
            setRevoking(null)
          }}
        >
          {text.tokensIntro}
        </ConfirmName>
      )}
    </Section>
  )
}
