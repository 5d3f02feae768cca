import type { Whoami } from '@gatehouse/contract'
import { useState } from 'react'
import { api } from '../../api.ts'
import { entryText } from '../../messages/entry.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/notice.tsx'
import { useAct } from '../../ui/use-act.ts'

/** The first operator, by the one-time link. */
export const SetupForm = ({
  token,
  onDone,
}: {
  readonly token: string
  readonly onDone: (whoami: Whoami) => void
}) => {
  const [name, setName] = useState('operator')
  const [password, setPassword] = useState('')
  const [again, setAgain] = useState('')
  const act = useAct()
  const differ = again !== '' && again !== password
  const create = async () => {
    if (password !== again) throw new Error(entryText.differ)
    onDone(await api.setUp({ token, password, name: name.trim() }))
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void act.run(create)
      }}
    >
      <TextField
        label={entryText.name}
        hint={entryText.newNameHint}
        error={act.fieldErrors['name']}
        name="name"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        pattern="[a-z][a-z0-9._\-]*"
        maxLength={63}
        required
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={entryText.password}
        hint={entryText.newPasswordHint}
        error={act.fieldErrors['password']}
        name="password"
        type="password"
        autoComplete="new-password"
        minLength={8}
        maxLength={1024}
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      <TextField
        label={entryText.again}
        error={differ ? entryText.differ : undefined}
        name="again"
        type="password"
        autoComplete="new-password"
        required
        value={again}
        onChange={({ target }) => setAgain(target.value)}
      />
      <Failure error={act.error} />
      <Button type="submit" tone="primary" busy={act.busy}>
        {entryText.create}
      </Button>
    </form>
  )
}
