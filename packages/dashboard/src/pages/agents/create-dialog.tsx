import { useState } from 'react'
import { api, queryClient } from '../../api.ts'
import { agentsText as text } from '../../messages/agents.ts'
import { FormDialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { AgentFields, blank, fieldsOf } from './agent-fields.tsx'
import { TokenDialog } from './token-dialog.tsx'

type Made = { readonly name: string; readonly token: string; readonly warnings: readonly string[] }

/** Makes an agent and then shows its token. */
export const CreateDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [name, setName] = useState('')
  const [typed, setTyped] = useState(blank)
  const [made, setMade] = useState<Made | null>(null)
  const create = async () => {
    const { agent, token, warnings } = await api.createAgent({
      name: name.trim(),
      ...fieldsOf(typed),
    })
    await queryClient.invalidateQueries({ queryKey: ['listAgents'] })
    setMade({ name: agent.name, token, warnings })
  }
  if (made) return <TokenDialog {...made} onClose={onClose} />
  return (
    <FormDialog title={text.create} submit={text.create} onSubmit={create} onClose={onClose}>
      {(errors) => (
        <>
          <TextField
            label={text.name}
            hint={text.nameHint}
            error={errors['name']}
            required
            maxLength={63}
            autoComplete="off"
            autoCapitalize="none"
            spellCheck={false}
            value={name}
            onChange={({ target }) => setName(target.value)}
          />
          <AgentFields typed={typed} onChange={setTyped} errors={errors} isNew />
        </>
      )}
    </FormDialog>
  )
}
