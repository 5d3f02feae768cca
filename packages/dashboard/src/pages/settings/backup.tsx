import { useState } from 'react'
import { api } from '../../api.ts'
import { settingsText as text } from '../../messages/settings.ts'
import { useMay } from '../../session.tsx'
import { Button } from '../../ui/button.tsx'
import { FormDialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { saveFile } from '../../ui/save-file.ts'
import { announce } from '../../ui/toasts.tsx'

const BackupDialog = ({ onClose }: { readonly onClose: () => void }) => {
  const [passphrase, setPassphrase] = useState('')
  const [again, setAgain] = useState('')
  const [withWorkspaces, setWithWorkspaces] = useState(false)
  const differ = again !== '' && again !== passphrase
  const make = async () => {
    const stream = await api.makeBackup({ passphrase, with_workspaces: withWorkspaces })
    const name = `gatehouse-${new Date().toISOString().slice(0, 10)}.backup`
    saveFile(name, await new Response(stream).blob())
    onClose()
    announce(text.backupMade(name))
  }
  return (
    <FormDialog
      title={text.backupTitle}
      submit={text.backupMake}
      disabled={differ || again === ''}
      onSubmit={make}
      onClose={onClose}
    >
      {(errors) => (
        <>
          <p>{text.backupIntro}</p>
          <TextField
            label={text.backupPassphrase}
            hint={text.backupPassphraseHint}
            error={errors['passphrase']}
            type="password"
            autoComplete="new-password"
            required
            minLength={12}
            maxLength={1024}
            value={passphrase}
            onChange={({ target }) => setPassphrase(target.value)}
          />
          <TextField
            label={text.backupAgain}
            error={differ ? text.backupDiffer : undefined}
            type="password"
            autoComplete="new-password"
            required
            maxLength={1024}
            value={again}
            onChange={({ target }) => setAgain(target.value)}
          />
          <Checkbox
            label={text.backupWorkspaces}
            checked={withWorkspaces}
            onChange={({ target }) => setWithWorkspaces(target.checked)}
          />
        </>
      )}
    </FormDialog>
  )
}

/** One encrypted file with everything that makes this node, while it serves. */
export const BackupButton = () => {
  const [open, setOpen] = useState(false)
  const mayBackUp = useMay('backup.make')
  return (
    mayBackUp && (
      <>
        <Button className="mt-3" onClick={() => setOpen(true)}>
          {text.backupOpen}
        </Button>
        {open && <BackupDialog onClose={() => setOpen(false)} />}
      </>
    )
  )
}
