import type { UpstreamReview } from '@gatehouse/contract'
import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { upstreamsText as text } from '../../messages/upstreams.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { Notice } from '../../ui/notice.tsx'
import { announce } from '../../ui/toasts.tsx'
import { Visible } from '../../ui/visible.tsx'
import { blankServer, serverOf, type TypedServer } from './typed-server.ts'

type Set = (change: Partial<TypedServer>) => void
type Fields = {
  readonly typed: TypedServer
  readonly set: Set
  readonly errors: Readonly<Record<string, string>>
}

const StdioFields = ({ typed, set, errors }: Fields) => (
  <>
    <TextField
      label={text.command}
      hint={text.commandHint}
      error={errors['server']}
      required
      spellCheck={false}
      value={typed.command}
      onChange={({ target }) => set({ command: target.value })}
    />
    <TextArea
      label={text.args}
      hint={text.lineHint}
      mono
      rows={3}
      spellCheck={false}
      value={typed.args}
      onChange={({ target }) => set({ args: target.value })}
    />
    {(
      [
        ['folders', text.folders, text.foldersHint],
        ['hosts', text.hosts, text.hostsHint],
        ['environment', text.environment, text.environmentHint],
      ] as const
    ).map(([field, label, hint]) => (
      <TextArea
        key={field}
        label={label}
        hint={hint}
        error={errors['grants']}
        mono
        rows={2}
        spellCheck={false}
        value={typed[field]}
        onChange={({ target }) => set({ [field]: target.value })}
      />
    ))}
  </>
)

const Found = ({ review: { tools, hosts_refused } }: { readonly review: UpstreamReview }) => (
  <Notice tone="good" role="status">
    <p>{text.lookNote}</p>
    <p className="font-medium">{text.lookCount(tools.length)}</p>
    <ul className="list-disc pl-5">
      {tools.map((tool) => (
        <li key={tool.tool} className="[overflow-wrap:anywhere]">
          <strong>
            <Visible text={tool.tool} />
          </strong>
          : <Visible text={tool.description.slice(0, 160)} />
          {tool.marks.map(({ kind, detail }) => (
            <p key={`${kind}${detail}`} className="text-warn">
              <Visible text={detail} />
            </p>
          ))}
        </li>
      ))}
    </ul>
    {hosts_refused.length > 0 && (
      <p>
        {text.hostsRefused}: <Visible text={hosts_refused.join(', ')} />
      </p>
    )}
  </Notice>
)

/** Connects first and shows what is there; the second step stores it. Anything that is changed asks to look again. */
export const AddDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [typed, setTyped] = useState(blankServer)
  const [review, setReview] = useState<UpstreamReview | null>(null)
  const set: Set = (change) => {
    setReview(null)
    setTyped({ ...typed, ...change })
  }
  const submit = async () => {
    if (!review) {
      setReview(await api.addUpstream({ ...serverOf(typed), dry_run: true }))
      return
    }
    const { upstream } = await api.addUpstream(serverOf(typed))
    await queryClient.invalidateQueries({ queryKey: ['listUpstreams'] })
    announce(text.addedSaid(upstream.name))
    onClose()
  }
  return (
    <FormDialog
      title={text.add}
      submit={review ? text.store : text.look}
      wide
      onSubmit={submit}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <TextField
            label={text.name}
            hint={text.nameHint}
            error={errors['name']}
            required
            maxLength={31}
            autoComplete="off"
            spellCheck={false}
            value={typed.name}
            onChange={({ target }) => set({ name: target.value })}
          />
          <SelectField
            label={text.kind}
            value={typed.kind}
            onChange={({ target }) => set({ kind: target.value === 'http' ? 'http' : 'stdio' })}
            options={[
              { value: 'stdio', text: text.kinds.stdio },
              { value: 'http', text: text.kinds.http },
            ]}
          />
          {typed.kind === 'stdio' ? (
            <StdioFields typed={typed} set={set} errors={errors} />
          ) : (
            <TextField
              label={text.url}
              error={errors['server']}
              type="url"
              required
              value={typed.url}
              onChange={({ target }) => set({ url: target.value })}
            />
          )}
          <TextArea
            label={typed.kind === 'stdio' ? text.credentialsStdio : text.credentialsHttp}
            hint={text.credentialsHint}
            error={errors['credentials']}
            mono
            rows={2}
            spellCheck={false}
            autoComplete="off"
            value={typed.credentials}
            onChange={({ target }) => set({ credentials: target.value })}
          />
          <Checkbox
            label={text.perAgentField}
            hint={text.perAgentHint}
            checked={typed.perAgent}
            onChange={({ target }) => set({ perAgent: target.checked })}
          />
          {review && <Found review={review} />}
        </>
      )}
    </FormDialog>
  )
}
