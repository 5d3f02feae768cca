import type { Whoami } from '@gatehouse/contract'
import { useState } from 'react'
import { api } from '../../api.ts'
import { entryText } from '../../messages/entry.ts'
import { Button } from '../../ui/button.tsx'
import { TextField } from '../../ui/field.tsx'
import { Failure } from '../../ui/notice.tsx'
import { useAct } from '../../ui/use-act.ts'

/** Name and password; the name is known where a person logs in again. */
export const LoginForm = ({
  name: known = '',
  onDone,
}: {
  readonly name?: string
  readonly onDone: (whoami: Whoami) => void
}) => {
  const [name, setName] = useState(known)
  const [password, setPassword] = useState('')
  const act = useAct()
  const logIn = async () => {
    const given = name.trim()
    onDone(await api.logIn({ password, ...(given === '' ? {} : { name: given }) }))
  }
  return (
    <form
      className="grid gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        void act.run(logIn)
      }}
    >
      <TextField
        label={entryText.name}
        hint={entryText.nameHint}
        error={act.fieldErrors['name']}
        name="name"
        autoComplete="username"
        autoCapitalize="none"
        spellCheck={false}
        maxLength={63}
        value={name}
        onChange={({ target }) => setName(target.value)}
      />
      <TextField
        label={entryText.password}
        name="password"
        type="password"
        autoComplete="current-password"
        maxLength={1024}
        required
        value={password}
        onChange={({ target }) => setPassword(target.value)}
      />
      <Failure error={act.error} />
      <Button type="submit" tone="primary" busy={act.busy}>
        {entryText.logIn}
      </Button>
    </form>
  )
}
