import { servicesText as text } from '../../messages/services.ts'
import { Checkbox, SelectField, TextArea, TextField } from '../../ui/field.tsx'
import { hasLines, type Setting, textOf } from './typed-settings.ts'

/** Name of a setting or a credential, as people write it. */
export const labelOf = (name: string): string => {
  const words = name
    .replaceAll('_', ' ')
    .replaceAll(/\b(?:imap|smtp|url|ca)\b/g, (word) => word.toUpperCase())
  return words.charAt(0).toUpperCase() + words.slice(1)
}

/** One setting of a service, as its schema describes it. */
export const SettingField = ({
  name,
  setting,
  required = false,
  value,
  onChange,
}: {
  readonly name: string
  readonly setting: Setting
  readonly required?: boolean
  readonly value: string
  readonly onChange: (value: string) => void
}) => {
  const { type, description, enum: choices } = setting
  const label = type === 'array' ? text.list(labelOf(name)) : labelOf(name)
  const written = value === '' && setting.default !== undefined ? textOf(setting.default) : value
  const wired = { label, required, ...(description === undefined ? {} : { hint: description }) }
  if (type === 'boolean')
    return (
      <Checkbox
        label={label}
        hint={description}
        checked={written === 'true'}
        onChange={({ target }) => onChange(String(target.checked))}
      />
    )
  if (choices)
    return (
      <SelectField
        {...wired}
        value={written}
        onChange={({ target }) => onChange(target.value)}
        options={choices.map((one) => ({ value: String(one), text: String(one) }))}
      />
    )
  if (hasLines(setting))
    return (
      <TextArea
        {...wired}
        mono
        rows={2}
        spellCheck={false}
        value={value}
        onChange={({ target }) => onChange(target.value)}
      />
    )
  return (
    <TextField
      {...wired}
      type={type === 'integer' || type === 'number' ? 'number' : 'text'}
      autoComplete="off"
      spellCheck={false}
      value={value}
      onChange={({ target }) => onChange(target.value)}
    />
  )
}
