import type { Catalogue } from '../catalogue.ts'
import { engineRulesEn } from './engine-rules.ts'
import { serverRulesEn } from './server-rules.ts'

export const rulesEn: Catalogue['rules'] = { ...engineRulesEn, ...serverRulesEn }
