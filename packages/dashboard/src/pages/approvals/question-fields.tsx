import type { QuestionField } from '@gatehouse/contract'
import { questionsText as text } from '../../messages/questions.ts'
import { Checkbox, SelectField, TextField } from '../../ui/field.tsx'
import { shownText, Visible } from '../../ui/visible.tsx'
import type { Typed } from './question-values.ts'

type Answer = string | readonly string[]

/** Description of a field by its server, its bounds, and what becomes of the answer. */
const Hint = ({ field: { description, limits, secret } }: { readonly field: QuestionField }) => {
  const parts = [description, limits, secret ? text.secret : null].filter((one) => one !== null)
  return parts.length === 0 ? null : <Visible text={parts.join(' · ')} />
}

const hasHint = ({ description, limits, secret }: QuestionField): boolean =>
  description !== null || limits !== null || secret

/** One of several values, each of which may be chosen. */
const ChoicesField = ({
  field,
  chosen,
  onChange,
}: {
  readonly field: QuestionField
  readonly chosen: readonly string[]
  readonly onChange: (chosen: readonly string[]) => void
}) => (
  <fieldset className="grid min-w-0 gap-2">
    <legend className="mb-1 text-[0.867rem] font-medium [overflow-wrap:anywhere]">
      <Visible text={field.title ?? field.name} />
    </legend>
    {hasHint(field) && (
      <p className="text-[0.867rem] text-ink-soft">
        <Hint field={field} />
      </p>
    )}
    {(field.choices ?? []).map(({ value, label }) => (
      <Checkbox
        key={value}
        label={shownText(label)}
        checked={chosen.includes(value)}
        onChange={({ target }) =>
          onChange(target.checked ? [...chosen, value] : chosen.filter((one) => one !== value))
        }
      />
    ))}
  </fieldset>
)

const optionsOf = ({ type, choices = [], required }: QuestionField) => [
  { value: '', text: required ? text.choose : text.noAnswer },
  ...(type === 'boolean'
    ? [
        { value: 'true', text: text.yes },
        { value: 'false', text: text.no },
      ]
    : choices.map(({ value, label }) => ({ value, text: shownText(label) }))),
]

const ValueField = ({
  field,
  typed,
  onChange,
}: {
  readonly field: QuestionField
  readonly typed: Answer
  readonly onChange: (typed: Answer) => void
}) => {
  const { type, required, secret, title, name } = field
  if (type === 'choices')
    return (
      <ChoicesField
        field={field}
        chosen={typeof typed === 'string' ? [] : typed}
        onChange={onChange}
      />
    )
  const wired = {
    label: shownText(title ?? name),
    ...(hasHint(field) ? { hint: <Hint field={field} /> } : {}),
    required,
    value: typeof typed === 'string' ? typed : '',
  }
  return type === 'boolean' || type === 'choice' ? (
    <SelectField
      {...wired}
      options={optionsOf(field)}
      onChange={({ target }) => onChange(target.value)}
    />
  ) : (
    <TextField
      {...wired}
      type={secret ? 'password' : type === 'text' ? 'text' : 'number'}
      step={type === 'number' ? 'any' : undefined}
      autoComplete="off"
      onChange={({ target }) => onChange(target.value)}
    />
  )
}

/** The form of a question, a field for each value that the server asks for. */
export const QuestionFields = ({
  fields,
  typed,
  onChange,
}: {
  readonly fields: readonly QuestionField[]
  readonly typed: Typed
  readonly onChange: (typed: Typed) => void
}) =>
  fields.map((field) => (
    <ValueField
      key={field.name}
      field={field}
      typed={Object.hasOwn(typed, field.name) ? (typed[field.name] ?? '') : ''}
      onChange={(answer) => onChange({ ...typed, [field.name]: answer })}
    />
  ))
