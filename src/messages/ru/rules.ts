import type { Catalogue } from '../catalogue.ts'
import { engineRulesRu } from './engine-rules.ts'
import { serverRulesRu } from './server-rules.ts'

export const rulesRu: Catalogue['rules'] = { ...engineRulesRu, ...serverRulesRu }
