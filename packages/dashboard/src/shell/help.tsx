import { shellText } from '../messages/shell.ts'
import { Dialog } from '../ui/dialog.tsx'
import { Checkbox } from '../ui/field.tsx'
import { singleKeys } from './preferences.ts'
import { type Shortcut, useShortcutList } from './shortcuts.ts'

const Keys = ({ keys }: { readonly keys: string }) => (
  <span className="flex gap-1">
    {keys.split(' ').map((key) => (
      <kbd
        key={key}
        className="mono min-w-6 rounded border border-line-strong bg-sunken px-1.5 text-center"
      >
        {key}
      </kbd>
    ))}
  </span>
)

const Group = ({
  title,
  shortcuts,
}: {
  readonly title: string
  readonly shortcuts: readonly Shortcut[]
}) =>
  shortcuts.length === 0 ? null : (
    <section className="mb-4 break-inside-avoid">
      <h3 className="mb-1 font-semibold">{title}</h3>
      <ul>
        {shortcuts.map(({ keys, text }) => (
          <li key={keys} className="flex items-center justify-between gap-4 py-0.5">
            <span>{text}</span>
            <Keys keys={keys} />
          </li>
        ))}
      </ul>
    </section>
  )

export const Help = ({ onClose }: { readonly onClose: () => void }) => {
  const all = useShortcutList()
  const enabled = singleKeys.use() === 'on'
  return (
    <Dialog title={shellText.shortcuts} onClose={onClose} wide>
      <div className="gap-8 sm:columns-2">
        {(['page', 'anywhere', 'go'] as const).map((group) => (
          <Group
            key={group}
            title={shellText.keyGroups[group]}
            shortcuts={[
              ...all.filter((one) => one.group === group),
              ...(group === 'anywhere'
                ? [{ keys: 'Ctrl+K', text: shellText.keys.palette, group, run: () => undefined }]
                : []),
            ]}
          />
        ))}
      </div>
      <Checkbox
        label={shellText.singleKeys}
        hint={shellText.helpIntro}
        checked={enabled}
        onChange={({ target }) => singleKeys.set(target.checked ? 'on' : 'off')}
      />
    </Dialog>
  )
}
